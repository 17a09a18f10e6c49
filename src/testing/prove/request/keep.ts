/**
 * Filters of generated values, with a limit.
 *
 * @module
 */
import fc from "fast-check";

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

/** How many values are tried in search of one that is kept. */
const TRIES = 300;

/** Checks whether some of the values satisfy a predicate. */
export function canKeep<T>(arbitrary: fc.Arbitrary<T>, predicate: (value: T) => boolean): boolean {
  return fc.sample(arbitrary, { seed: 0, numRuns: TRIES }).some(predicate);
}

/** Throws the error of what no value satisfies, or none that a generator makes. */
export function cannotGenerate(what: unknown): never {
  throw new Error(`Cannot generate ${JSON.stringify(what)}`);
}
