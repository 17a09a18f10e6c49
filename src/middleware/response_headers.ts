/**
 * Headers that a middleware writes on the response of a request.
 *
 * @module
 */
import type { Next } from "hono";
import type { Context } from "../core/http/context.ts";

/** Headers to write on a response. */
export interface ResponseHeadersOptions {
  /** The values by their names. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Whether they are added to values of the same names instead of replacing them;
   * `false` by default.
   */
  readonly append?: boolean;
}

/**
 * Runs the rest of the request, then writes headers on its response: those set before are lost if a
 * handler returns a `Response` that it has created. A response with immutable headers (from
 * `fetch`, `Response.redirect()`) is copied; one that cannot be copied, a protocol switch (101) or
 * a network error (0), is left unchanged.
 */
export async function withResponseHeaders(
  c: Context,
  next: Next,
  { headers, append = false }: ResponseHeadersOptions,
): Promise<void> {
  const entries = Object.entries(headers);
  try {
    await next();
  } catch (error) {
    // the error handler of the application creates the response later
    for (const [name, value] of entries) c.header(name, value, { append });
    throw error;
  }
  for (const [name, value] of entries) {
    try {
      if (append) c.res.headers.append(name, value);
      else c.res.headers.set(name, value);
    } catch {
      if (c.res.status >= 200) c.header(name, value, { append });
    }
  }
}
