/**
 * The path of a request as the client sent it.
 *
 * @module
 */

/** The most of a path that is told to logs and clients, in characters. */
const MAX_LENGTH = 2048;

/**
 * Gives the path of a URL without its query, percent-encoded, at most 2048 characters: fit for a line
 * of a log, as Hono's decoded `c.req.path` is not.
 */
export function rawPath(url: string): string {
  const start = url.indexOf("/", url.indexOf("//") + 2);
  const end = url.slice(start).search(/[?#]/);
  const path = url.slice(start, end < 0 ? undefined : start + end).slice(0, MAX_LENGTH);
  return path.replace(/[^!-~]/g, "?"); // should a server have left something raw
}

/** Gives the same as a URI reference, in which nothing stands raw that may not (RFC 3986 §2). */
export function pathReference(url: string): string {
  const path = rawPath(url);
  const whole = path.length < MAX_LENGTH ? path : path.replace(/%[\dA-F]?$/i, ""); // where it was cut
  return whole
    .replace(/^(?=\/\/)/, "/.") // what begins with two slashes names a host (RFC 3986 §4.2)
    .replace(/%(?![\dA-F]{2})|["<>[\\\]^`{|}]/gi, encodeURIComponent);
}
