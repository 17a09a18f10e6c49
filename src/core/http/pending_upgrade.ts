/**
 * Upgrades of requests that begin when their response leaves the application.
 *
 * @module
 */
import type { Context } from "./context.ts";

/** Begins an upgrade; resolves to the response for the server. */
export type BeginUpgrade = (headers: Headers) => Promise<Response>;

const BEGIN = Symbol("fw.beginUpgrade");

interface PendingResponse extends Response {
  readonly [BEGIN]?: () => Promise<Response>;
}

/**
 * Returns a response with 101. If the application sends it, `begin` is called with its headers, in
 * the asynchronous context of the caller; if another response replaces it, nothing happens.
 */
export function pendingUpgrade(c: Context, begin: BeginUpgrade): Response {
  const start = Promise.withResolvers<Headers>();
  const begun = start.promise.then(begin);
  const response = c.body(null, 200); // the `Response` of Node refuses 101
  Object.defineProperties(response, {
    status: { value: 101 },
    statusText: { value: "Switching Protocols" },
    ok: { value: false },
    [BEGIN]: {
      value() {
        start.resolve(response.headers);
        return begun;
      },
    },
  });
  keep(response, c);
  return response;
}

/** Begins the upgrade of a pending response; returns any other response unchanged. */
export function upgraded(response: Response): Response | Promise<Response> {
  return (response as PendingResponse)[BEGIN]?.() ?? response; // a private symbol
}

/** Makes the context change a pending response in place: Hono would copy it. */
function keep(pending: Response, c: Context): void {
  const { header } = c;
  const { get, set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(c), "res") ?? {};
  const isReplaced = () => c.finalized && get?.call(c) !== pending;
  Object.defineProperty(c, "res", {
    configurable: true,
    get: () => isReplaced() ? get?.call(c) : pending,
    set(response: Response | undefined) {
      if (response === pending) set?.call(c, undefined);
      set?.call(c, response);
    },
  });
  c.header = (name: string, value?: string, options?: { readonly append?: boolean }) => {
    if (!c.finalized || isReplaced()) header(name, value, options);
    if (value === undefined) pending.headers.delete(name);
    else if (options?.append) pending.headers.append(name, value);
    else pending.headers.set(name, value);
  };
}
