/**
 * Gives every request an id, and every response the header that carries it.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { type Context, requestIdSlot } from "../core/http/context.ts";
import { middlewarePlugin, type Plugin, throwingErrors } from "../core/module/plugin.ts";
import { withResponseHeaders } from "./response_headers.ts";

/** Where a request's id comes from. */
export interface RequestIdOptions {
  /** The header it is read from and sent in, `x-request-id` by default. */
  readonly headerName?: string;
  /** Makes the id of a request that brings none, a random UUID by default. It must be fit for a header. */
  readonly generator?: () => string;
}

/** Extractor of the request's id; `undefined` unless the application uses request ids. */
export function requestId(c: Context): string | undefined {
  return requestIdSlot.get(c);
}

/** Returns the plugin of {@linkcode requestIdMiddleware}, which throws what that throws. */
export function requestIdPlugin(options?: RequestIdOptions): Plugin {
  return middlewarePlugin("requestId", throwingErrors(requestIdMiddleware(options)));
}

/**
 * Keeps the id a request brings if it matches `[A-Za-z0-9._-]{1,128}`, else makes one, and sends it
 * on every response, errors included.
 *
 * @throws {TypeError} if the header's name is not a token (RFC 9110 §5.6.2)
 */
export function requestIdMiddleware(
  { headerName = "x-request-id", generator = () => crypto.randomUUID() }: RequestIdOptions = {},
): MiddlewareHandler {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(headerName)) {
    throw new TypeError(
      `Cannot use request ids: ${JSON.stringify(headerName)} is not a header name`,
    );
  }
  return async function assignRequestId(c, next) {
    const incoming = c.req.header(headerName);
    const id = incoming !== undefined && isSound(incoming) ? incoming : generator();
    requestIdSlot.set(c, id);
    await withResponseHeaders(c, next, { headers: { [headerName]: id } });
  };
}

function isSound(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(id);
}
