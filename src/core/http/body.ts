/**
 * Decoding a request's body: JSON, and forms where a route declares them.
 *
 * @module
 */
import type { BodyData } from "hono/utils/body";
import { bodyLimitSlot } from "./body_limit.ts";
import type { Context } from "./context.ts";
import {
  BadRequestException,
  PayloadTooLargeException,
  UnsupportedMediaTypeException,
} from "./http_exception.ts";

/** A body format: `json` is `application/json` and `+json` types, `form` and `multipart` are the forms of HTML. */
export type BodyFormat = "json" | "form" | "multipart";

/** The largest body where neither the application nor the route says otherwise: 1 MiB, in bytes. */
export const DEFAULT_BODY_LIMIT: number = 1024 * 1024;

/** How a body is read. */
export interface ReadBodyOptions {
  /** The formats it may have; default JSON alone. */
  readonly consumes?: readonly BodyFormat[] | undefined;
}

/** The media type that stands for each format. */
export const MEDIA_TYPES: Readonly<Record<BodyFormat, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
};

/**
 * A body may hold a value for every 50 bytes of the body limit (20 971 in 1 MiB), 1000 in any case.
 * Schema libraries report every value they refuse, so without a bound a body of a megabyte could make
 * them work for seconds.
 */
const LIMIT_BYTES_PER_VALUE = 50;

/** How deep a JSON body may nest; schemas of recursive types would overflow the stack. */
const MAX_DEPTH = 512;

/**
 * Reads and decodes the body. Gives `undefined` when there is none. Fields of a form that repeat are
 * arrays; files are `File`s.
 *
 * @throws {BadRequestException} 400 if the body is not what its type says (RFC 8259: JSON is UTF-8),
 * is cut short, or nests deeper than 512
 * @throws {PayloadTooLargeException} 413 if it holds more than one value for 50 bytes of the limit
 * @throws {UnsupportedMediaTypeException} 415 if its type, charset or encoding is not one of these
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
  return format === "json"
    ? decodeJson(await bytesOf(c), bodyLimitSlot.get(c))
    : await decodeForm(c);
}

/** Tells whether the body of a request is a form. */
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
    throw unsupported("the body is of another type", formats);
  }
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) {
    throw unsupported("the body is not UTF-8", formats);
  }
  return format;
}

/** Gives the media type of a `Content-Type`, and its parameters. */
function partsOf(contentType: string): readonly string[] {
  return contentType.toLowerCase().split(";").map((part) => part.trim());
}

async function bytesOf(c: Context): Promise<ArrayBuffer> {
  try {
    return await c.req.arrayBuffer();
  } catch (cause) {
    throw new BadRequestException("The body is cut short", { cause });
  }
}

function decodeJson(bytes: ArrayBuffer, bodyLimit?: number): unknown {
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
  checkValues(values, bodyLimit);
  return value;
}

async function decodeForm(c: Context): Promise<unknown> {
  const form = await parseForm(c);
  checkValues(Object.values(form).flat().length, bodyLimitSlot.get(c));
  return form;
}

async function parseForm(c: Context): Promise<BodyData<{ all: true }>> {
  try {
    return await c.req.parseBody({ all: true });
  } catch (cause) {
    throw new BadRequestException("The body is not a valid form", { cause });
  }
}

function checkValues(values: number, bodyLimit: number = DEFAULT_BODY_LIMIT): void {
  const maxValues = Math.max(1000, Math.floor(bodyLimit / LIMIT_BYTES_PER_VALUE));
  if (values > maxValues) {
    throw new PayloadTooLargeException(`The body holds more than ${maxValues} values`);
  }
}

function unsupported(what: string, formats: readonly BodyFormat[]): UnsupportedMediaTypeException {
  const accepted = formats.map((format) => MEDIA_TYPES[format]).join(", ");
  return new UnsupportedMediaTypeException(`This route reads ${accepted}; ${what}`, {
    headers: { accept: accepted },
  });
}

/** What a JSON text is made of. */
interface JsonMeasure {
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

/** Finds the quotation mark that ends a string: the next that no odd number of backslashes escapes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
