/**
 * Where a browser goes after a login.
 *
 * @module
 */
import { BadRequestException } from "../../core/http/http_exception.ts";

/** A site that no path belongs to by itself. */
const SITE = "https://site.invalid";

/** What a header of a response has room for everywhere. */
const MAX_LENGTH = 2048;

/**
 * Gives a path of this site as browsers understand it, with its query and fragment. What leads to
 * another site, such as `//example.com` or `/\example.com`, is refused.
 *
 * @throws {BadRequestException} 400 if it leads elsewhere, or is over 2 048 characters as it is sent,
 * percent-encoded
 */
export function returnPath(path: string): string {
  const url = path.startsWith("/") ? parse(path) : undefined;
  // a path that begins with two slashes would be read as another site's name
  if (url?.origin === SITE && !url.pathname.startsWith("//")) {
    const sent = url.pathname + url.search + url.hash;
    if (sent.length <= MAX_LENGTH) return sent;
  }
  throw new BadRequestException("The return path is no path of this site");
}

function parse(path: string): URL | undefined {
  return URL.canParse(path, SITE) ? new URL(path, SITE) : undefined;
}
