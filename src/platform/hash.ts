/**
 * Hashes of text that detect mistakes, and are no protection against attacks.
 *
 * @module
 */

/** The first hash of FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** Returns the hash of the UTF-16 units of a text by FNV-1a, 32 bits in hexadecimal. */
export function fnv1a(text: string, basis: number = BASIS): string {
  let hash = basis;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), PRIME);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}
