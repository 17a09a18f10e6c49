/**
 * Tokens of HTTP: the syntax of many names.
 *
 * @module
 */

/**
 * Checks whether a text is a `token` (RFC 9110 §5.6.2): the name of a header, of a parameter or of
 * an authentication scheme, and also of a cookie (RFC 6265 §4.1.1).
 */
export function isHttpToken(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}
