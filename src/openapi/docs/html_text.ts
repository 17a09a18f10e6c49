/**
 * Values in HTML: text, attributes and scripts.
 *
 * @module
 */

/** Escapes a value for the text of an element, or an attribute in quotes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Writes a value as an expression of an inline script. No value can end the script or open a comment
 * in it (HTML §4.12.1.3), and no line separator can end a line of it.
 */
export function scriptValue(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
