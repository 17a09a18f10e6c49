/**
 * Keys in OpenAPI documents: the methods of a path, and those of JSON Pointers.
 *
 * @module
 */

/** The members of a path item that are operations (OpenAPI 3.1.1 §4.8.9.1). */
export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** Returns the keys of a JSON Pointer in a fragment: of `#/a~1b/c`, `a/b` and `c` (RFC 6901 §6). */
export function pointerKeys(reference: string): readonly string[] {
  return reference.split("/").slice(1)
    .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"));
}
