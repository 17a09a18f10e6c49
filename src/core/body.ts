/**
 * Decoding a request's body: JSON, and forms where a route declares them.
 *
 * @module
 */
import type { Context } from "./context.ts";
import { BadRequestException, UnsupportedMediaTypeException } from "./exceptions.ts";

/** A body format: `json` is `application/json` and `+json` types, `form` and `multipart` are the forms of HTML. */
export type BodyFormat = "json" | "form" | "multipart";

/** The media type that stands for each format, in `Accept` and in the OpenAPI document. */
export const MEDIA_TYPES: Readonly<Record<BodyFormat, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
  multipart: "multipart/form-data",
};

/**
 * Reads and decodes the body. Gives `undefined` when there is none. Fields of a form that repeat are
 * arrays; files are `File`s.
 *
 * @throws {BadRequestException} 400 if the body is not what its type says (RFC 8259: JSON is UTF-8)
 * @throws {UnsupportedMediaTypeException} 415 if its type, charset or encoding is not one of these
 */
export async function readBody(c: Context, formats: readonly BodyFormat[]): Promise<unknown> {
  const contentType = c.req.header("content-type");
  if (contentType === undefined) {
    if ((await c.req.arrayBuffer()).byteLength === 0) return undefined;
    throw unsupported("the body has no Content-Type", formats);
  }
  const format = formatOf(contentType, formats);
  const encoding = c.req.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
    throw unsupported("the body has a Content-Encoding", formats);
  }
  return format === "json" ? decodeJson(await c.req.arrayBuffer()) : await decodeForm(c);
}

function formatOf(contentType: string, formats: readonly BodyFormat[]): BodyFormat {
  const [mediaType = "", ...parameters] = contentType.toLowerCase().split(";").map((s) => s.trim());
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

function decodeJson(bytes: ArrayBuffer): unknown {
  if (bytes.byteLength === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new BadRequestException("The body is not valid JSON", { cause });
  }
}

async function decodeForm(c: Context): Promise<unknown> {
  try {
    return await c.req.parseBody({ all: true });
  } catch (cause) {
    throw new BadRequestException("The body is not a valid form", { cause });
  }
}

function unsupported(what: string, formats: readonly BodyFormat[]): UnsupportedMediaTypeException {
  const accepted = formats.map((format) => MEDIA_TYPES[format]).join(", ");
  return new UnsupportedMediaTypeException(`This route reads ${accepted}; ${what}`, {
    headers: { accept: accepted },
  });
}
