/**
 * Options that are numbers.
 *
 * @module
 */
import { isTimeLimit } from "../platform/time_limit.ts";

/** Values of options by their names; one that is `undefined` is not checked. */
type Numbers = Readonly<Record<string, number | undefined>>;

/**
 * Checks options that are whole numbers.
 *
 * @throws {RangeError} if one is not, or is less than `least`; `action` begins its message
 */
export function checkWholeNumbers(
  numbers: Numbers,
  { least, action }: { readonly least: number; readonly action: string },
): void {
  for (const [name, value = least] of Object.entries(numbers)) {
    if (Number.isSafeInteger(value) && value >= least) continue;
    throw new RangeError(`Cannot ${action}: ${name} is not a whole number of ${least} or more`);
  }
}

/**
 * Checks options that are time limits in milliseconds.
 *
 * @throws {RangeError} if one is not positive and below 2^31; `action` begins its message
 */
export function checkTimeLimits(numbers: Numbers, action: string): void {
  for (const [name, value = 1] of Object.entries(numbers)) {
    if (isTimeLimit(value)) continue;
    throw new RangeError(`Cannot ${action}: ${name} is not positive and below 2^31`);
  }
}
