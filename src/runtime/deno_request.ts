/**
 * What a request of `Deno.serve` lacks to be like those of other runtimes. Properties are put on the
 * request itself: a copy could not be upgraded to a WebSocket.
 *
 * @module
 */

/** Gives a request that came over a Unix socket a URL of HTTP: Deno's begins with `http+unix:`. */
export function overHttp(request: Request): Request {
  const url = new URL(request.url.replace(/^http\+unix:\/\/[^/]*/, "http://localhost"));
  const host = request.headers.get("host");
  if (host) url.host = host;
  return Object.defineProperty(request, "url", { configurable: true, value: url.href });
}
