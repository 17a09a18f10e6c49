/**
 * Decodes the body of a request: JSON, and forms where a route declares them.
 *
 * @module
 */
import { bodyLimit } from "./body_limit.ts";
import type { Context } from "./context.ts";
import {
  BadRequestException,
  PayloadTooLargeException,
  UnsupportedMediaTypeException,
} from "./http_exception.ts";

/**
 * A body format: `json` is `application/json` and `+json` types, `form` and `multipart`
 * are HTML forms.
 */
export type BodyFormat = "json" | "form" | "multipart";

/** The default limit of a body in bytes: 1 MiB. */
export const DEFAULT_BODY_LIMIT: number = 1024 * 1024;

/** Options of {@linkcode readBody}. */
export interface ReadBodyOptions {
  /** The accepted formats; default only JSON. */
  readonly consumes?: readonly BodyFormat[] | undefined;
}

/** The media type of each format. */
export const MEDIA_TYPES: Readonly<Record<BodyFormat, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
};

/**
 * A body can have one value for every 50 bytes of the body limit (20 971 in 1 MiB), and at least
 * 1000. Schema libraries report every invalid value, so without this limit a body of 1 MiB could
 * keep them busy for seconds.
 */
const LIMIT_BYTES_PER_VALUE = 50;

/** How deep a JSON body can nest; deeper ones could overflow the stack of a recursive schema. */
const MAX_DEPTH = 512;

/**
 * Reads and decodes the body. Returns `undefined` if it is empty. Repeated fields of a form become
 * arrays; files are `File` objects.
 *
 * @throws {BadRequestException} 400 if the body is invalid (RFC 8259: JSON is UTF-8) or incomplete,
 * or nests deeper than 512
 * @throws {PayloadTooLargeException} 413 if JSON has more than one value for 50 bytes of the limit,
 * or a form more than 1000 fields
 * @throws {UnsupportedMediaTypeException} 415 if its type, charset or encoding is not supported
 */
export async function readBody(
  c: Context,
  { consumes = ["json"] }: ReadBodyOptions = {},
): Promise<unknown> {
  const contentType = c.req.header("content-type");
  if (contentType === undefined) {
    if ((await bytesOf(c)).byteLength === 0) return undefined;
    throw unsupported("the body has no Content-Type", consumes);
  }
  const format = formatOf(contentType, consumes);
  const encoding = c.req.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw unsupported("the body has a Content-Encoding", consumes);
  }
  return format === "json" ? decodeJson(await bytesOf(c), bodyLimit.get(c)) : await readForm(c);
}

/** Checks whether the body of a request is a form. */
export function isForm(c: Context): boolean {
  const [type = ""] = partsOf(c.req.header("content-type") ?? "");
  return [MEDIA_TYPES.form, MEDIA_TYPES.multipart].includes(type);
}

function formatOf(contentType: string, formats: readonly BodyFormat[]): BodyFormat {
  const [mediaType = "", ...parameters] = partsOf(contentType);
  const format = mediaType.startsWith("application/") && mediaType.endsWith("+json")
    ? "json"
    : formats.find((format) => MEDIA_TYPES[format] === mediaType);
  if (format === undefined || !formats.includes(format)) {
    throw unsupported("the body has another type", formats);
  }
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw unsupported("the body is not UTF-8", formats);
  }
  return format;
}

/** Splits a `Content-Type` into its media type and parameters. */
function partsOf(contentType: string): readonly string[] {
  return contentType.toLowerCase().split(";").map((part) => part.trim());
}

async function bytesOf(c: Context): Promise<ArrayBuffer> {
  try {
    return await c.req.arrayBuffer();
  } catch (cause) {
    throw new BadRequestException("The body is incomplete", { cause });
  }
}

function decodeJson(bytes: ArrayBuffer, maxBytes?: number): unknown {
  if (bytes.byteLength === 0) return undefined;
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    throw new BadRequestException("The body is not valid JSON", { cause });
  }
  const { values, depth } = measureJson(text);
  if (depth > MAX_DEPTH) throw new BadRequestException("The body is nested too deeply");
  checkValues(values, maxBytes);
  return value;
}

async function readForm(c: Context): Promise<unknown> {
  const { decodeForm } = await import("./form.ts");
  // Hono keeps a form that middleware has parsed
  return c.req.bodyCache.formData
    ? await c.req.parseBody({ all: true })
    : await decodeForm(c, await bytesOf(c));
}

function checkValues(values: number, maxBytes: number = DEFAULT_BODY_LIMIT): void {
  const maxValues = Math.max(1000, Math.floor(maxBytes / LIMIT_BYTES_PER_VALUE));
  if (values > maxValues) {
    throw new PayloadTooLargeException(`The body has more than ${maxValues} values`);
  }
}

function unsupported(what: string, formats: readonly BodyFormat[]): UnsupportedMediaTypeException {
  const accepted = formats.map((format) => MEDIA_TYPES[format]).join(", ");
  return new UnsupportedMediaTypeException(`This route reads ${accepted}; ${what}`, {
    headers: { accept: accepted },
  });
}

/** The size of a JSON text. */
interface JsonMeasure {
  /** The number of its members and elements, plus one for each container. */
  readonly values: number;
  /** How deep its objects and arrays nest. */
  readonly depth: number;
}

/** Texts up to this length in characters are not measured. */
const SMALL = 1024;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Counts the values of a valid JSON text and their depth; a short text counts as flat. */
function measureJson(text: string): JsonMeasure {
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

/** Returns the index of the quotation mark that ends a string: the next one that is not escaped. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
