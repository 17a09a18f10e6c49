/**
 * Where a browser goes after a login.
 *
 * @module
 */
import { BadRequestException } from "../../core/http_exception.ts";

/** A site that no path belongs to by itself. */
const SITE = "https://site.invalid";

/**
 * Gives a path of this site as browsers understand it, with its query and fragment. What leads to
 * another site, such as `//example.com` or `/\example.com`, is refused.
 *
 * @throws {BadRequestException} 400 if it leads elsewhere, or is over 2 048 characters
 */
export function returnPath(path: string): string {
  const url = path.startsWith("/") && path.length <= 2048 ? parse(path) : undefined;
  // a path that begins with two slashes would be read as another site's name
  if (url?.origin === SITE && !url.pathname.startsWith("//")) {
    return url.pathname + url.search + url.hash;
  }
  throw new BadRequestException("The return path is no path of this site");
}

function parse(path: string): URL | undefined {
  return URL.canParse(path, SITE) ? new URL(path, SITE) : undefined;
}
