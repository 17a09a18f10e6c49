/**
 * Decodes the body of a request: JSON, and forms where a route declares them.
 *
 * @module
 */
import { bodyLimit, DEFAULT_BODY_LIMIT, readWhole } from "./body_limit.ts";
import type { Context } from "./context.ts";
import type { Refuse } from "../../platform/option_names.ts";
import { whenReady } from "../../platform/ready.ts";
import {
  BadRequestException,
  HttpException,
  UnsupportedMediaTypeException,
} from "./http_exception.ts";

/**
 * A body format: `json` is `application/json` and `+json` types, `form` and `multipart`
 * are HTML forms.
 */
export type BodyFormat = "json" | "form" | "multipart";

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

/** Refuses formats that are not a list of them, or are empty, so that no body could be read. */
export function checkFormats(consumes: readonly BodyFormat[], refuse: Refuse): void {
  const isList = Array.isArray(consumes) &&
    consumes.every((each) => Object.hasOwn(MEDIA_TYPES, each));
  if (!isList) refuse('consumes is not an array of "json", "form" and "multipart"');
  if (consumes.length === 0) refuse("consumes is empty, so no body could be read");
}

const UTF_8 = new TextDecoder("utf-8", { fatal: true });

/** Replaces bytes that are not UTF-8. On Deno it takes a third of the time of the strict one. */
const LENIENT = new TextDecoder();

/** JSON up to this length in bytes is not measured. */
const SMALL = 1024;

/**
 * Reads and decodes the body. Returns `undefined` if it is empty. Repeated fields of a form become
 * arrays; files are `File` objects.
 *
 * @throws {BadRequestException} 400 if the body is invalid (RFC 8259: JSON is UTF-8) or incomplete,
 * or nests deeper than 512
 * @throws {PayloadTooLargeException} 413 if JSON has more than one value for 50 bytes of the limit,
 * or a form more than 1000 fields
 * @throws {RequestTimeoutException} 408 if it does not arrive within `bodyTimeout`
 * @throws {UnsupportedMediaTypeException} 415 if its type, charset or encoding is not supported
 */
export async function readBody(
  c: Context,
  { consumes = ["json"] }: ReadBodyOptions = {},
): Promise<unknown> {
  const contentType = c.req.header("content-type");
  if (!contentType) {
    if ((await bytesOf(c)).byteLength === 0) return;
    throw unsupported("the body has no Content-Type", consumes);
  }
  const format = formatOf(contentType, consumes);
  const encoding = c.req.header("content-encoding");
  if (encoding && encoding.toLowerCase() !== "identity") {
    throw unsupported("the body has a Content-Encoding", consumes);
  }
  return format === "json"
    ? decodeJson(await bytesOf(c), bodyLimit.get(c) ?? DEFAULT_BODY_LIMIT)
    : await readForm(c);
}

/** Checks whether the body of a request is a form. */
export function isForm(c: Context): boolean {
  const [type = ""] = partsOf(c.req.header("content-type") ?? "");
  return [MEDIA_TYPES.form, MEDIA_TYPES.multipart].includes(type);
}

function formatOf(contentType: string, formats: readonly BodyFormat[]): BodyFormat {
  if (contentType === MEDIA_TYPES.json && formats.includes("json")) return "json"; // most are
  const [mediaType = "", ...parameters] = partsOf(contentType);
  const format = mediaType.startsWith("application/") && mediaType.endsWith("+json")
    ? "json"
    : formats.find((format) => MEDIA_TYPES[format] === mediaType);
  if (!format || !formats.includes(format)) {
    throw unsupported("the body has another type", formats);
  }
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) {
    throw unsupported("the body is not UTF-8", formats);
  }
  return format;
}

/** Splits a `Content-Type` into its media type and parameters. */
function partsOf(contentType: string): readonly string[] {
  return contentType.toLowerCase().split(";").map((part) => part.trim());
}

/**
 * Reads the bytes of the body; Hono keeps them for later reads.
 *
 * @throws {HttpException} 400 if they do not arrive, or the error of a limit
 */
export async function bytesOf(c: Context): Promise<ArrayBuffer> {
  try {
    return await readWhole(c);
  } catch (cause) {
    if (cause instanceof HttpException) throw cause;
    throw new BadRequestException("The body is incomplete", { cause });
  }
}

/**
 * Decodes JSON; at once, unless what measures it has to be loaded.
 *
 * @throws {BadRequestException} 400 if it is invalid
 */
export function decodeJson(bytes: ArrayBuffer | Uint8Array, maxBytes: number): unknown {
  if (bytes.byteLength === 0) return undefined;
  if (bytes.byteLength <= SMALL) return parsed(bytes, JSON.parse);
  return whenReady(
    formats ?? loadFormats(),
    ({ parseJson }) => parsed(bytes, (text) => parseJson(text, maxBytes)),
  );
}

function parsed(bytes: ArrayBuffer | Uint8Array, parse: (text: string) => unknown): unknown {
  try {
    const text = LENIENT.decode(bytes);
    // the character was sent, or replaces others
    return parse(text.includes("\uFFFD") ? UTF_8.decode(bytes) : text);
  } catch (cause) {
    if (cause instanceof HttpException) throw cause;
    throw new BadRequestException("The body is not valid JSON", { cause });
  }
}

/** The decoders of forms and large JSON: repeated `import()` takes longer than decoding. */
let formats: typeof import("./body_formats.ts") | undefined;

async function loadFormats(): Promise<typeof import("./body_formats.ts")> {
  return formats ??= await import("./body_formats.ts");
}

async function readForm(c: Context): Promise<unknown> {
  const { decodeForm } = await loadFormats();
  // Hono keeps a form that middleware has parsed
  return c.req.bodyCache.formData
    ? await c.req.parseBody({ all: true })
    : await decodeForm(c, await bytesOf(c));
}

function unsupported(what: string, formats: readonly BodyFormat[]): UnsupportedMediaTypeException {
  const accepted = formats.map((format) => MEDIA_TYPES[format]).join(", ");
  return new UnsupportedMediaTypeException(`This route reads ${accepted}; ${what}`, {
    headers: { accept: accepted },
  });
}
