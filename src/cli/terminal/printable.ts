/**
 * Text of others on a terminal.
 *
 * @module
 */

/** Controls (ECMA-48), but for tabs and ends of lines, and those of the direction of text. */
const CONTROL =
  // deno-lint-ignore no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes what a terminal would obey instead of showing it: `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(
    CONTROL,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
