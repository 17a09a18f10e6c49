/**
 * Measuring JSON without building anything from it.
 *
 * @module
 */

/** What a JSON text is made of. */
export interface JsonMeasure {
  /** At least the number of its values: members and elements, each container counting one more. */
  readonly values: number;
  /** How deep its objects and arrays nest. */
  readonly depth: number;
}

/** Texts up to this length, in characters, are not worth measuring. */
const SMALL = 1024;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Counts the values of a valid JSON text and how deep they nest; a short text counts as flat. */
export function measureJson(text: string): JsonMeasure {
  if (text.length <= SMALL) return { values: 1, depth: 1 };
  let [values, depth, deepest] = [1, 0, 0];
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        values += 1;
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        depth -= 1;
    }
  }
  return { values, depth: deepest };
}

/** Finds the quotation mark that ends a string: the next that no odd number of backslashes escapes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
