/**
 * Bounds the number of HTTP methods, which a client may invent, for labels and attributes.
 *
 * @module
 */

const KNOWN: ReadonlySet<string> = new Set(
  ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"],
);

/** Gives the method if it is a registered one in common use, else `_OTHER`, as OpenTelemetry does. */
export function knownMethod(method: string): string {
  return KNOWN.has(method) ? method : "_OTHER";
}
