/**
 * Whether a single value satisfies keywords.
 *
 * @module
 */
import type { JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";

/**
 * Checks whether a number or a text satisfies merged keywords. Formats, objects and lists are not
 * checked: they satisfy only no keywords at all.
 */
export function satisfies(keywords: JsonSchema, value: unknown): boolean {
  return Object.entries(keywords).every(([keyword, limit]) =>
    CHECKS[keyword]?.(value, limit) === true
  );
}

/** Checks whether a value is known not to satisfy merged keywords. */
export function violates(keywords: JsonSchema, value: unknown): boolean {
  return Object.entries(keywords).some(([keyword, limit]) =>
    CHECKS[keyword]?.(value, limit) === false
  );
}

/** Checks a value against a limit; `undefined` if that cannot be decided. */
type Check = (value: unknown, limit: unknown) => boolean | undefined;

const CHECKS: Readonly<Record<string, Check>> = {
  type: (value) => Number.isInteger(value),
  minimum: (value, limit) => Number(value) >= Number(limit),
  maximum: (value, limit) => Number(value) <= Number(limit),
  exclusiveMinimum: (value, limit) => Number(value) > Number(limit),
  exclusiveMaximum: (value, limit) => Number(value) < Number(limit),
  multipleOf: (value, divisors) =>
    (divisors as number[]).every((divisor) => isMultipleOf(Number(value), divisor)),
  minLength: (value, limit) => lengthOf(value) >= Number(limit),
  maxLength: (value, limit) => lengthOf(value) <= Number(limit),
  pattern: (value, patterns) => {
    const found = (patterns as string[]).map((pattern) => matches(pattern, String(value)));
    return found.includes(undefined) ? undefined : !found.includes(false);
  },
};

/**
 * Checks whether a pattern is found in a text, by code points if it can be read so; `undefined` if
 * it is no regular expression here.
 */
export function matches(pattern: string, text: string): boolean | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags).test(text);
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Checks whether a number is a multiple of another; decimals as exactly as they are written. */
export function isMultipleOf(value: number, divisor: number): boolean {
  const quotient = Number((value / divisor).toPrecision(15));
  return Number.isInteger(quotient);
}

/** The length of a text in code points, as JSON Schema counts it. */
function lengthOf(text: unknown): number {
  return [...String(text)].length;
}
