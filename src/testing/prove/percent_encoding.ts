/**
 * Percent-encoding of URLs (RFC 3986 §2.1), as documents and requests have it.
 *
 * @module
 */

/** Decodes a text, except for octets that are not UTF-8, and `%` without two digits. */
export function percentDecoded(text: string): string {
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (octets) => {
    try {
      return decodeURIComponent(octets);
    } catch {
      return octets;
    }
  });
}

/** Decodes the path of a URL, and its query, in which `+` is a space. */
export function decodedUrl(url: string): string {
  const [path = "", ...query] = url.split("?");
  return [path, ...query.map((part) => part.replaceAll("+", " "))].map(percentDecoded).join("?");
}
