/**
 * Observing requests from a middleware.
 *
 * @module
 */
import type { Next } from "hono";
import type { Context } from "../core/http/context.ts";
import { HttpException } from "../core/http/http_exception.ts";

/**
 * Runs the rest of the request, then calls `onEnd` exactly once with the status of the response and
 * the error that caused it, if any. The body may not have been sent by then.
 */
export async function observe(
  c: Context,
  next: Next,
  onEnd: (status: number, error: unknown) => void,
): Promise<void> {
  let status = 500;
  let error: unknown;
  try {
    await next();
    if (c.finalized) status = c.res.status;
    error = c.error;
  } catch (thrown) {
    status = HttpException.from(thrown).status;
    error = thrown;
    throw thrown;
  } finally {
    onEnd(status, error);
  }
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(
  ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"],
);

/**
 * Returns the method if it is a registered one in common use, else `_OTHER` as in OpenTelemetry:
 * clients can invent methods, and the values of a label or attribute have to be bounded.
 */
export function knownMethod(method: string): string {
  return KNOWN_METHODS.has(method) ? method : "_OTHER";
}
