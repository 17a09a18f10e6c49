/**
 * Ids of requests.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { type Context, requestIdSlot } from "../core/http/context.ts";
import { hooked } from "../core/module/request_hooks.ts";
import { writeHeaders } from "./response_headers.ts";

/** Options of `app.useRequestId()`. */
export interface RequestIdOptions {
  /** The header that the id is read from and sent in, `x-request-id` by default. */
  readonly headerName?: string;
  /**
   * Creates the id of a request without a valid one; a random UUID by default. It has to be
   * a header value.
   */
  readonly generator?: () => string;
}

/** Extracts the id of the request; `undefined` unless the application uses request ids. */
export function requestId(c: Context): string | undefined {
  return requestIdSlot.get(c);
}

/**
 * Returns middleware that keeps the incoming id if it matches `[A-Za-z0-9._-]{1,128}`, else creates
 * one, and sends it with every response, including errors.
 */
export function requestIdMiddleware(
  { headerName = "x-request-id", generator = () => crypto.randomUUID() }: RequestIdOptions = {},
): MiddlewareHandler {
  return hooked({
    before(c) {
      const incoming = c.req.header(headerName);
      const id = incoming !== undefined && isValid(incoming) ? incoming : generator();
      requestIdSlot.set(c, id);
      return id;
    },
    after: (c, id, failure) => writeHeaders(c, { [headerName]: id }, { failure }),
  });
}

function isValid(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(id);
}
