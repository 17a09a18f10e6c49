/**
 * Comparing secrets.
 *
 * @module
 */

/** Tells whether two strings are equal, in a time that depends on the length of the second alone. */
export function equalInConstantTime(given: string, secret: string): boolean {
  let difference = given.length ^ secret.length;
  for (let i = 0; i < secret.length; i++) {
    difference |= (given.charCodeAt(i) || 0) ^ secret.charCodeAt(i);
  }
  return difference === 0;
}
