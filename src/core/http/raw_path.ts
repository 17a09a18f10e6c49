/**
 * The path of a request as the client sent it.
 *
 * @module
 */

/** The maximum length of a path in logs and responses, in characters. */
const MAX_LENGTH = 2048;

/**
 * Returns the path of a URL, or of the target of a request, without its query: percent-encoded, at
 * most 2048 characters. Unlike Hono's decoded `c.req.path`, it fits into one line of a log.
 */
export function rawPath(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const end = url.slice(start).search(/[?#]/);
  const path = url.slice(start, end < 0 ? undefined : start + end).slice(0, MAX_LENGTH);
  return path.replace(/[^!-~]/g, "?"); // in case a server did not encode it
}

/**
 * Returns the same path as a valid URI reference, with every other character encoded (RFC 3986 §2).
 */
export function pathReference(url: string): string {
  const path = rawPath(url);
  // an escape that was cut is left out
  const whole = path.length < MAX_LENGTH ? path : path.replace(/%[\dA-F]?$/i, "");
  return whole
    .replace(/^(?=\/\/)/, "/.") // two slashes would begin a host (RFC 3986 §4.2)
    .replace(/%(?![\dA-F]{2})|["<>[\\\]^`{|}]/gi, encodeURIComponent);
}

/**
 * The path of a request that has too many segments to be matched. No other path has a `#`:
 * `decodeURI` keeps `%23`.
 */
export const TOO_DEEP = "/#";
