/**
 * Limits request bodies while they are read, not before, so that a guard can reject a request
 * without waiting for its body.
 *
 * @module
 */
import { boundedStream } from "../../platform/bounded_stream.ts";
import { type Context, type Slot, slot } from "./context.ts";
import { PayloadTooLargeException } from "./http_exception.ts";

/** The limit of the request's body, in bytes. */
export const bodyLimitSlot: Slot<number> = slot("bodyLimit");

/** The error of a body that exceeded its limit. */
const bodyLimitErrorSlot = slot<PayloadTooLargeException>("bodyLimitError");

/** Methods whose requests usually have no body. */
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
 * Limits the body of a request. A `Content-Length` over the limit is rejected at once; a body
 * without one fails while it is read, and {@linkcode bodyLimitError} returns the error. For
 * methods that usually have no body, a body is expected only if the request announces one or
 * `isRead` is set.
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
  if (raw.bodyUsed || !raw.body) return; // Hono keeps a body that middleware has read
  const onExceeded = () => bodyLimitErrorSlot.set(c, tooLarge(maxBytes));
  const body = boundedStream(raw.body, maxBytes, { onExceeded });
  c.req.raw = new Request(raw, { body, duplex: "half" } as RequestInit);
}

/**
 * Returns the error of a body over the limit; each runtime reports it to the reader in its own way.
 */
export function bodyLimitError(c: Context): PayloadTooLargeException | undefined {
  return bodyLimitErrorSlot.get(c);
}

function tooLarge(maxBytes: number): PayloadTooLargeException {
  // the rest of the body stays unread, so the connection cannot be used again (RFC 9112 §9.3)
  const headers = { connection: "close" };
  return new PayloadTooLargeException(`The body is larger than ${maxBytes} bytes`, { headers });
}
