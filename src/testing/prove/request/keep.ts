/**
 * Filters of generated values, with a limit.
 *
 * @module
 */
import type fc from "fast-check";

/** How many values in a row may be refused. */
const PATIENCE = 10_000;

/**
 * Keeps the values that satisfy a predicate.
 *
 * @throws {Error} while it generates, if hardly any value does: the generator is at fault then
 */
export function keep<T>(
  arbitrary: fc.Arbitrary<T>,
  predicate: (value: T) => boolean,
  what: unknown,
): fc.Arbitrary<T> {
  let refused = 0;
  return arbitrary.filter((value) => {
    refused = predicate(value) ? 0 : refused + 1;
    if (refused > PATIENCE) cannotGenerate(what);
    return refused === 0;
  });
}

/** Throws the error of what no value satisfies, or none that a generator makes. */
export function cannotGenerate(what: unknown): never {
  throw new Error(`Cannot generate ${JSON.stringify(what)}`);
}
