/**
 * Values that nobody changes.
 *
 * @module
 */

/** Freezes a value of JSON with all that it holds, and gives it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(Object.freeze(value))) deepFreeze(member);
  return value;
}
