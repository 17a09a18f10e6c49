/**
 * Requests that are made without a server.
 *
 * @module
 */

/** Options of `app.request()`. */
export interface RequestOptions extends RequestInit {
  /** A value to send as a JSON body; the method is then POST unless another is given. */
  readonly json?: unknown;
  /** What a server would tell of the connection, such as `{ remoteAddr: { hostname } }`; `c.env`. */
  readonly env?: object;
}

/** Gives what `Request` takes of the options. */
export function requestInit({ json, ...init }: RequestOptions): RequestInit {
  if (json === undefined) return init;
  const headers = new Headers(init.headers);
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  return { method: "POST", ...init, headers, body: JSON.stringify(json) };
}
