/**
 * Values that nobody changes.
 *
 * @module
 */

/** Freezes a value of JSON with all that it holds, however deep, and gives it. */
export function deepFreeze<T>(value: T): T {
  const rest: unknown[] = [value];
  while (rest.length > 0) {
    const next = rest.pop();
    if (typeof next === "object" && next !== null) rest.push(...Object.values(Object.freeze(next)));
  }
  return value;
}
