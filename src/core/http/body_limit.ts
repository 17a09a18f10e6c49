/**
 * Limits request bodies in size and time while they are read, not before, so that a guard can
 * reject a request without waiting for its body.
 *
 * @module
 */
import { boundedStream } from "../../platform/bounded_stream.ts";
import { markCopy } from "../../platform/received_request.ts";
import { headerOf } from "../../platform/request_header.ts";
import {
  bodyErrorSlot,
  bodyTimeout,
  countFields,
  hasLimitedReads,
  inTime,
  LAST,
  limitReads,
  partsInTime,
} from "./body_timeout.ts";
import { type Context, type Slot, slot } from "./context.ts";
import { type HttpException, PayloadTooLargeException } from "./http_exception.ts";
import { matchedRoute } from "./matched_route.ts";

/**
 * The limit of the request's body, in bytes. Middleware that reads a body can raise it before; the
 * `bodyLimit` of a route takes precedence when the request reaches it.
 *
 * @example
 * ```ts
 * import { bodyLimit, FwFactory, module } from "@fw/fw";
 *
 * const app = await FwFactory.create(module({}));
 * app.use("/webhooks/*", async (c) => {
 *   bodyLimit.set(c, 5 * 1024 * 1024);
 *   return c.json({ length: (await c.req.text()).length });
 * });
 * const response = await app.request("/webhooks/shop", { json: "x".repeat(2_000_000) });
 * console.assert((await response.json()).length === 2_000_002);
 * ```
 */
export const bodyLimit: Slot<number> = slot("bodyLimit");

/**
 * The request whose body is limited in size and time, for every reader; or the length of a body of
 * which only {@linkcode readWhole} is limited, in time.
 */
const boundedSlot = slot<Request | number>("bodyLimited");

/** The methods whose requests have no body on any runtime. */
const EMPTY = ["GET", "HEAD"];

/**
 * Returns a limit of bodies in bytes.
 *
 * @throws {RangeError} if it is not a size
 */
export function checkedBodyLimit(bytes: number): number {
  if (Number.isSafeInteger(bytes) && bytes >= 0) return bytes;
  throw new RangeError(`Cannot limit bodies to ${bytes} bytes: it is not a size`);
}

/**
 * The default limit of a body in bytes: 1 MiB. Reads of a body up to it with a `Content-Length` are
 * limited only in time.
 */
export const DEFAULT_BODY_LIMIT: number = 1024 * 1024;

/** Options of {@linkcode limitBody}. */
export interface LimitBodyOptions {
  /** Whether the request has not reached its route, so that its limit can still change. */
  readonly isEarly?: boolean;
  /**
   * Whether {@linkcode readWhole} reads the body before any code of the application runs. Then a
   * body of a known length needs no limit of other reads, which takes a fifth of the time of a
   * small request on Node; {@linkcode limitOtherReads} adds it.
   */
  readonly isReadFirst?: boolean;
}

/**
 * Limits the body of a request, also in time. A `Content-Length` over the limit is rejected at
 * once, unless the limit can still change; any other body over it fails while it is read, and
 * {@linkcode bodyLimitError} returns the error.
 *
 * @throws {PayloadTooLargeException} 413
 */
export function limitBody(
  c: Context,
  maxBytes: number,
  { isEarly = false, isReadFirst = false }: LimitBodyOptions = {},
): void {
  const { raw } = c.req;
  const isEmpty = EMPTY.includes(raw.method);
  if (isEmpty && (isEarly || hasNoLengthOnNode(c.env))) return;
  const isChunked = !isEmpty && raw.headers.has("transfer-encoding");
  const length = isChunked ? NaN : Number(headerOf(raw, "content-length") ?? NaN);
  if (length > maxBytes && !isEarly) throw tooLarge(maxBytes);
  if (isEmpty) return;
  if (!isEarly) bodyLimit.set(c, maxBytes);
  const bounded = boundedSlot.get(c);
  // by middleware, for example by one that decompresses it
  const isReplaced = typeof bounded === "object" && bounded !== raw;
  if (raw.bodyUsed) return; // Hono keeps what middleware has read
  if (bounded !== undefined && !isReplaced) return;
  const isShort = !isReplaced && length <= Math.min(maxBytes, DEFAULT_BODY_LIMIT);
  if (isShort && isReadFirst && !hasLimitedReads(raw)) return boundedSlot.set(c, length);
  if (FORM.test(raw.headers.get("content-type") ?? "")) countParsed(c);
  if (isShort) limitReads(c, length);
  else if (raw.body) c.req.raw = boundedRequest(c, { body: raw.body, maxBytes });
  boundedSlot.set(c, c.req.raw);
}

/** Returns a copy of the request whose body is limited. */
function boundedRequest(
  c: Context,
  { body: unbounded, maxBytes }: { readonly body: ReadableStream; readonly maxBytes: number },
): Request {
  const { raw } = c.req;
  const limit = () => bodyLimit.get(c) ?? matchedRoute(c)?.bodyLimit ?? maxBytes;
  const onExceeded = () => bodyErrorSlot.set(c, tooLarge(limit()));
  const body = boundedStream(unbounded, limit, { onExceeded, wait: partsInTime(c) });
  const limited = markCopy(new Request(raw, { body, duplex: "half" } as RequestInit), raw);
  // the adapter of Deno sets that of a request over a Unix socket
  if (limited.url !== raw.url) Object.defineProperty(limited, "url", { value: raw.url });
  return countFields(limited);
}

/** The types that Hono parses. */
const FORM = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;

/** Makes Hono's `c.req.parseBody()` count the fields of a form, whatever has read its body. */
function countParsed({ req }: Context): void {
  const parse = req.parseBody.bind(req);
  req.parseBody = async (options?: object) => {
    if (!req.bodyCache.formData) {
      const bytes = await req.arrayBuffer();
      (await import("./body_formats.ts")).keepForm(req, bytes); // most bodies are not forms
    }
    return await parse(options);
  };
}

/** Reads the whole body, in time. */
export function readWhole(c: Context): Promise<ArrayBuffer> {
  const length = boundedSlot.get(c);
  const reading = c.req.arrayBuffer();
  if (typeof length !== "number") return reading;
  return inTime(reading, { limitMs: bodyTimeout.get(c), bytes: length });
}

/** Limits the reads of a body that was to be read first: something has failed before. */
export function limitOtherReads(c: Context): void {
  const length = boundedSlot.get(c);
  if (typeof length !== "number") return;
  boundedSlot.set(c, c.req.raw);
  if (!c.req.raw.bodyUsed) limitReads(c, length);
}

/**
 * Returns the error of a body over its limit in size or time, or that did not arrive whole; each
 * runtime, and `fetch` with the body, reports it to the reader in its own way.
 */
export function bodyLimitError(c: Context): HttpException | undefined {
  return bodyErrorSlot.get(c);
}

/** The part of the bindings of `@hono/node-server` that is used here. */
interface NodeBindings {
  readonly incoming?: { readonly headers?: { readonly [name: string]: unknown } };
}

/** Checks whether a request has no `Content-Length`; `env` are the bindings of the runtime. */
export function hasNoLength(request: Request, env: unknown): boolean {
  return hasNoLengthOnNode(env) || headerOf(request, "content-length") === null;
}

/** Checks on Node whether a request has no `Content-Length`, without creating its `Headers`. */
function hasNoLengthOnNode(env: unknown): boolean {
  const headers = (env as NodeBindings | undefined)?.incoming?.headers;
  return headers !== undefined && headers["content-length"] === undefined;
}

function tooLarge(maxBytes: number): PayloadTooLargeException {
  return new PayloadTooLargeException(`The body is larger than ${maxBytes} bytes`, LAST);
}
