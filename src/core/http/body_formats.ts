/**
 * Decodes HTML forms, after their fields are counted, and limits the size of JSON. It is loaded by
 * the first form, or JSON that is not short.
 *
 * @module
 */
import { type BodyData, parseBody } from "hono/utils/body";
import type { Context } from "./context.ts";
import { BadRequestException, PayloadTooLargeException } from "./http_exception.ts";

/** The largest number of fields of a form; parsing ten thousands of them takes seconds. */
const MAX_FIELDS = 1000;

/** The only parameter `boundary` of a content type, of at most 70 characters (RFC 2046 §5.1.1). */
const BOUNDARY =
  /^(?:(?!boundary=).)*;\s*boundary=("?)([^\s";\\]{1,70})\1\s*(?:;(?!.*boundary=)|$)/i;

/**
 * Decodes a form. Repeated fields become arrays; files are `File` objects.
 *
 * @throws {PayloadTooLargeException} 413 if it has more than 1000 fields
 * @throws {BadRequestException} 400 if it is invalid
 */
export async function decodeForm(
  c: Context,
  bytes: ArrayBuffer,
): Promise<BodyData<{ all: true }>> {
  const form = countedForm(c.req.header("content-type"), bytes);
  return await parseBody(form, { all: true }).catch((cause) => {
    throw invalid(cause);
  });
}

/** Puts the form of a request into the cache of Hono's `parseBody()`, as a promise. */
export function keepForm(req: Context["req"], bytes: ArrayBuffer): void {
  const form = parseForm(req.header("content-type"), bytes);
  form.catch(() => {}); // Hono may need it for nothing
  Object.assign(req.bodyCache, { formData: form });
}

/**
 * Parses a form, for `formData()` of a request.
 *
 * @throws {PayloadTooLargeException} 413 if it has more than 1000 fields
 * @throws {BadRequestException} 400 if it is invalid
 */
export async function parseForm(
  type: string | undefined,
  bytes: ArrayBuffer,
): Promise<FormData> {
  return await countedForm(type, bytes).formData().catch((cause) => {
    throw invalid(cause);
  });
}

/** Returns a request whose body is a form, after its fields are counted. */
function countedForm(type = "", bytes: ArrayBuffer): Request {
  const isMultipart = /^\s*multipart/i.test(type);
  const boundary = BOUNDARY.exec(type)?.[2];
  if (isMultipart && boundary === undefined) throw invalid();
  const delimiter = `--${boundary}`;
  const separators = placesOf(isMultipart ? delimiter : "&", bytes);
  // the last delimiter of a multipart form ends it
  if (separators.length + (isMultipart ? -1 : 1) > MAX_FIELDS) {
    throw new PayloadTooLargeException(`The form has more than ${MAX_FIELDS} fields`);
  }
  const body = isMultipart ? wholeForm(bytes, { delimiter, separators }) : bytes;
  // with the boundary that was counted, whatever the parser would read from the header
  const contentType = isMultipart ? `multipart/form-data; boundary="${boundary}"` : type;
  const headers = { "content-type": contentType };
  return new Request("http://localhost", { method: "POST", body, headers });
}

function invalid(cause?: unknown): BadRequestException {
  return new BadRequestException("The body is not a valid form", { cause });
}

/** The delimiter of a multipart form, and where it occurs. */
interface Delimiters {
  readonly delimiter: string;
  readonly separators: readonly number[];
}

/**
 * Returns a multipart form up to its closing delimiter (RFC 2046 §5.1.1). The parsers of the
 * runtimes differ in what they read before the first delimiter and after the last, in a delimiter
 * within a line or with more on its line, and Deno's takes a form that was cut off.
 *
 * @throws {BadRequestException} 400 if it does not begin with a delimiter, if none ends it, or if
 * one is not a line of its own
 */
function wholeForm(
  buffer: ArrayBuffer,
  { delimiter, separators }: Delimiters,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(buffer);
  const pairAt = (place: number) => String.fromCharCode(...bytes.subarray(place, place + 2));
  const [first = -1] = separators;
  if (first !== 0 && !(first === 2 && pairAt(0) === CRLF)) throw invalid();
  for (const place of separators) {
    if (place > 0 && pairAt(place - 2) !== CRLF) break;
    const end = place + delimiter.length;
    if (pairAt(end) === "--") return bytes.subarray(first, end + 2);
    if (pairAt(end) !== CRLF) break;
  }
  throw invalid();
}

const CRLF = "\r\n";

/**
 * Returns where an ASCII text occurs, up to two more times than the fields can have. Each byte is
 * read once, whatever the client has chosen as its boundary (Knuth, Morris and Pratt).
 */
function placesOf(text: string, buffer: ArrayBuffer): readonly number[] {
  const wanted = new TextEncoder().encode(text);
  const shorter = [0]; // the next shorter match after each one
  const extend = (matched: number, byte: number): number => {
    while (matched > 0 && wanted[matched] !== byte) matched = shorter[matched - 1] ?? 0;
    return wanted[matched] === byte ? matched + 1 : 0;
  };
  for (const byte of wanted.subarray(1)) shorter.push(extend(shorter.at(-1) ?? 0, byte));
  const places: number[] = [];
  const bytes = new Uint8Array(buffer);
  const [first = 0] = wanted;
  let matched = 0;
  for (let at = bytes.indexOf(first); at !== -1 && at < bytes.length;) {
    matched = extend(matched, bytes[at++] ?? 0);
    if (matched === wanted.length) {
      if (places.push(at - matched) > MAX_FIELDS + 1) break;
      matched = 0;
    }
    if (matched === 0) at = bytes.indexOf(first, at); // the runtime is faster
  }
  return places;
}

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
 * Parses JSON of any size.
 *
 * @throws {SyntaxError} if it is invalid
 * @throws {BadRequestException} 400 if it nests deeper than 512
 * @throws {PayloadTooLargeException} 413 if it has more than one value for 50 bytes of `maxBytes`
 */
export function parseJson(text: string, maxBytes: number): unknown {
  const maxValues = Math.max(1000, Math.floor(maxBytes / LIMIT_BYTES_PER_VALUE));
  // a value takes at least one character, and a level one opening bracket
  if (text.length <= maxValues && hasFewBrackets(text)) return JSON.parse(text);
  const { values, depth } = measureJson(text);
  // before it is parsed: a million levels take longer than a valid body
  if (depth > MAX_DEPTH) throw new BadRequestException("The body is nested too deeply");
  const value: unknown = JSON.parse(text);
  if (values <= maxValues) return value;
  throw new PayloadTooLargeException(`The body has more than ${maxValues} values`);
}

/** Checks whether a text has so few opening brackets that it cannot nest too deeply. */
function hasFewBrackets(text: string): boolean {
  let count = 0;
  for (const bracket of "[{") {
    for (let i = text.indexOf(bracket); i !== -1; i = text.indexOf(bracket, i + 1)) {
      if (++count > MAX_DEPTH) return false;
    }
  }
  return true;
}

/** The size of a JSON text. */
interface JsonMeasure {
  /** The number of its members and elements, plus one for each container. */
  readonly values: number;
  /** How deep its objects and arrays nest. */
  readonly depth: number;
}

/** Counts the values of a JSON text and their depth, as if it were valid. */
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
