/**
 * Headers that a middleware writes on the response of a request.
 *
 * @module
 */
import type { Context } from "../core/http/context.ts";
import type { Failure } from "../core/module/request_hooks.ts";

/** How headers are written. */
export interface ResponseHeadersOptions {
  /**
   * Whether they are added to values of the same names instead of replacing them;
   * `false` by default.
   */
  readonly append?: boolean;
  /** Why the response does not exist yet. */
  readonly failure?: Failure | undefined;
}

/**
 * Writes headers on the response of a request: those set before are lost if a handler returns a
 * `Response` that it has created. A response with immutable headers (from `fetch`,
 * `Response.redirect()`) is copied; one that cannot be copied, a protocol switch (101) or a network
 * error (0), is left unchanged.
 */
export function writeHeaders(
  c: Context,
  headers: Readonly<Record<string, string>>,
  { append = false, failure }: ResponseHeadersOptions = {},
): void {
  for (const name in headers) {
    const value = headers[name] as string; // its own member
    if (failure) c.header(name, value, { append });
    else writeHeader(c, [name, value], append);
  }
}

function writeHeader(c: Context, [name, value]: readonly [string, string], append: boolean): void {
  try {
    if (append) c.res.headers.append(name, value);
    else c.res.headers.set(name, value);
  } catch {
    if (c.res.status >= 200) c.header(name, value, { append });
  }
}
