/**
 * Writes headers on whatever response a request ends in.
 *
 * @module
 */
import type { Next } from "hono";
import type { Context } from "../core/http/context.ts";

/** How headers are written. */
export interface ResponseHeadersOptions {
  /** Whether they join the values that are already there instead of replacing them. */
  readonly append?: boolean;
}

/**
 * Runs the rest of the request, then writes the headers on its response, as what is set before is
 * lost when a handler returns a `Response` of its own. One with immutable headers (from `fetch`,
 * `Response.redirect()`) is copied; one that cannot be copied, a protocol switch (101) or a network
 * error (0), stays as it is.
 */
export async function withResponseHeaders(
  c: Context,
  next: Next,
  headers: Readonly<Record<string, string>>,
  { append = false }: ResponseHeadersOptions = {},
): Promise<void> {
  const entries = Object.entries(headers);
  try {
    await next();
  } catch (error) {
    // The application's error handler is yet to make the response
    for (const [name, value] of entries) c.header(name, value, { append });
    throw error;
  }
  for (const [name, value] of entries) writeHeader(c, name, value, append);
}

function writeHeader(c: Context, name: string, value: string, append: boolean): void {
  try {
    if (append) c.res.headers.append(name, value);
    else c.res.headers.set(name, value);
  } catch {
    if (c.res.status >= 200) c.header(name, value, { append });
  }
}
