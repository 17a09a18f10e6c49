/**
 * Text that every database keeps as it is.
 *
 * @module
 */

/**
 * Tells whether text is well-formed and has no U+0000. PostgreSQL refuses U+0000, reading SQLite on
 * Deno cuts the text there, and every driver replaces lone surrogates in silence.
 */
export function isStorableText(value: unknown): boolean {
  return typeof value === "string" && value.isWellFormed() && !value.includes("\0");
}
