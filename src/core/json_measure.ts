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

/** Counts the values of a valid JSON text and how deep they nest; a short text counts as flat. */
export function measureJson(text: string): JsonMeasure {
  if (text.length <= SMALL) return { values: 1, depth: 1 };
  let [values, depth, deepest] = [1, 0, 0];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]/g)) {
    if (token === "[" || token === "{") {
      values += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (token === "]" || token === "}") depth -= 1;
    else if (token === ",") values += 1;
  }
  return { values, depth: deepest };
}
