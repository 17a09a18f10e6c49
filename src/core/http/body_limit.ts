/**
 * Keeping bodies within a limit while they are read, not before: a guard refuses a request without
 * waiting for its body.
 *
 * @module
 */
import { boundedStream } from "../../platform/bounded_stream.ts";
import type { Context } from "./context.ts";
import { PayloadTooLargeException } from "./http_exception.ts";
import { type Slot, slot } from "./slot.ts";

/** The limit of the request's body, in bytes. */
export const bodyLimitSlot: Slot<number> = slot("bodyLimit");

/** The error of a body that exceeded its limit. */
const bodyLimitErrorSlot = slot<PayloadTooLargeException>("bodyLimitError");

/** Methods whose requests have no body, unless they say so. */
const USUALLY_EMPTY: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "DELETE"]);

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
 * Limits the body of a request. A `Content-Length` over the limit is refused at once; a body without one
 * is cut when it has passed the limit, and {@linkcode bodyLimitError} tells so. Of methods that usually
 * have none, only a body that is read by all means is looked for.
 *
 * @throws {PayloadTooLargeException} 413
 */
export function limitBody(
  c: Context,
  maxBytes: number,
  { isRead = false }: { readonly isRead?: boolean } = {},
): void {
  const { raw } = c.req;
  bodyLimitSlot.set(c, maxBytes);
  const length = raw.headers.get("content-length");
  const isChunked = raw.headers.has("transfer-encoding");
  if (length !== null && !isChunked) {
    if (Number(length) > maxBytes) throw tooLarge(maxBytes);
    return;
  }
  if (!isChunked && !isRead && USUALLY_EMPTY.has(raw.method)) return;
  if (raw.bodyUsed || !raw.body) return; // what middleware has read, Hono keeps
  const onExceeded = () => bodyLimitErrorSlot.set(c, tooLarge(maxBytes));
  const body = boundedStream(raw.body, maxBytes, { onExceeded });
  c.req.raw = new Request(raw, { body, duplex: "half" } as RequestInit);
}

/** Gives the error of a body that was cut, however the runtime has told of it to what read the body. */
export function bodyLimitError(c: Context): PayloadTooLargeException | undefined {
  return bodyLimitErrorSlot.get(c);
}

function tooLarge(maxBytes: number): PayloadTooLargeException {
  // the rest of the body stays unread, so the connection cannot be used again (RFC 9112 §9.3)
  const headers = { connection: "close" };
  return new PayloadTooLargeException(`The body is larger than ${maxBytes} bytes`, { headers });
}
