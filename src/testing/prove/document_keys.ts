/**
 * Keys in OpenAPI documents: the methods of a path, and those of JSON Pointers.
 *
 * @module
 */

import { percentDecoded } from "./percent_encoding.ts";

/** The members of a path item that are operations (OpenAPI 3.1.1 §4.8.9.1). */
export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** Returns the keys of a JSON Pointer in a fragment: of `#/a~1b/c`, `a/b` and `c` (RFC 6901 §6). */
export function pointerKeys(reference: string): readonly string[] {
  return reference.split("/").slice(1)
    .map((key) => percentDecoded(key).replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Returns the value that is inside of another by the keys on the way; `undefined` if none is. */
export function valueAt(json: unknown, keys: readonly (string | number)[]): unknown {
  return keys.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, key)
        ? (at as Record<string | number, unknown>)[key]
        : undefined,
    json,
  );
}

/**
 * Returns a key as part of a JSON Pointer in a fragment. Only ASCII characters are encoded: the
 * fragment is that of an IRI (RFC 3987 §2.2), and Hyperjump decodes each octet by itself.
 */
export function pointerPart(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1")
    .replaceAll(/[^\w.~!$&'()*+,;=:@\u0080-\u{10ffff}-]/gu, encodeURIComponent);
}
