/**
 * Limits the size of JSON. It is loaded by the first body that is not short.
 *
 * @module
 */
import { DEFAULT_BODY_LIMIT } from "./body_limit.ts";
import { BadRequestException, PayloadTooLargeException } from "./http_exception.ts";

/**
 * A body can have one value for every 50 bytes of the body limit (20 971 in 1 MiB), and at least
 * 1000. Schema libraries report every invalid value, so without this limit a body of 1 MiB could
 * keep them busy for seconds.
 */
const LIMIT_BYTES_PER_VALUE = 50;

/** How deep a JSON body can nest; deeper ones could overflow the stack of a recursive schema. */
const MAX_DEPTH = 512;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Checks a valid JSON text.
 *
 * @throws {BadRequestException} 400 if it nests deeper than 512
 * @throws {PayloadTooLargeException} 413 if it has more than one value for 50 bytes of `maxBytes`
 */
export function checkJsonSize(text: string, maxBytes: number = DEFAULT_BODY_LIMIT): void {
  const { values, depth } = measureJson(text);
  if (depth > MAX_DEPTH) throw new BadRequestException("The body is nested too deeply");
  const maxValues = Math.max(1000, Math.floor(maxBytes / LIMIT_BYTES_PER_VALUE));
  if (values > maxValues) {
    throw new PayloadTooLargeException(`The body has more than ${maxValues} values`);
  }
}

/** The size of a JSON text. */
interface JsonMeasure {
  /** The number of its members and elements, plus one for each container. */
  readonly values: number;
  /** How deep its objects and arrays nest. */
  readonly depth: number;
}

/** Counts the values of a valid JSON text and their depth. */
function measureJson(text: string): JsonMeasure {
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

/** Returns the index of the quotation mark that ends a string: the next one that is not escaped. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
