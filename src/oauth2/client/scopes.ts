/**
 * What a client asks leave for.
 *
 * @module
 */

/**
 * Gives scopes as a request has them (RFC 6749 §3.3).
 *
 * @throws {TypeError} if they are no list of texts
 */
export function joinScopes(scopes: readonly string[]): string {
  const isList = Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string");
  if (!isList) throw new TypeError("Cannot ask for scopes: they are no list of texts");
  return scopes.join(" ");
}
