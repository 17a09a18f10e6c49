/**
 * Hashes of text that detect mistakes, and are no protection against attacks.
 *
 * @module
 */

/** The first hash of FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/ */
const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** Returns the hash of the UTF-16 units of a text by FNV-1a, 32 bits; `basis` is that before it. */
export function fnv1a(text: string, basis: number = BASIS): number {
  let hash = basis;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), PRIME);
  }
  return hash >>> 0;
}

/** Returns a hash of 32 bits in hexadecimal. */
export function hexOfHash(hash: number): string {
  return hash.toString(16).padStart(8, "0");
}
