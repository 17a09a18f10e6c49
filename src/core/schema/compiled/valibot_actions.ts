/**
 * The actions of valibot that become expressions.
 *
 * @module
 */

/** A schema or an action of valibot. */
export interface Item {
  readonly kind: string;
  readonly type: string;
  readonly async?: boolean;
  readonly requirement?: unknown;
  readonly [member: string]: unknown;
}

/** The methods of strings that transformations call. */
const METHODS: Readonly<Record<string, string>> = {
  trim: "trim",
  trim_start: "trimStart",
  trim_end: "trimEnd",
  to_lower_case: "toLowerCase",
  to_upper_case: "toUpperCase",
};

/** What a value must not be, by the validation and its requirement. */
const REFUSED: Readonly<Record<string, (x: string, requirement: number) => string>> = {
  length: (x, length) => `${x}.length !== ${length}`,
  min_length: (x, min) => `${x}.length < ${min}`,
  max_length: (x, max) => `${x}.length > ${max}`,
  min_value: (x, min) => `!(${x} >= ${min})`,
  max_value: (x, max) => `!(${x} <= ${max})`,
  gt_value: (x, limit) => `!(${x} > ${limit})`,
  lt_value: (x, limit) => `!(${x} < ${limit})`,
  multiple_of: (x, divisor) => `${x} % ${divisor} != 0`,
};

/** The functions of `Number` that validations call. */
const NUMBERS: Readonly<Record<string, string>> = {
  integer: "isInteger",
  safe_integer: "isSafeInteger",
  finite: "isFinite",
};

/** Returns the method of a text that a transformation calls, if it is known. */
export function methodOf({ type }: Item): string | undefined {
  return METHODS[type];
}

/** Returns the condition under which a validation refuses a variable, if it is known. */
export function refusalOf({ kind, type, requirement }: Item, x: string): string | undefined {
  if (kind !== "validation") return undefined;
  if (type === "non_empty") return `${x}.length === 0`;
  if (NUMBERS[type]) return `!Number.${NUMBERS[type]}(${x})`;
  return typeof requirement === "number" && Number.isFinite(requirement)
    ? REFUSED[type]?.(x, requirement)
    : undefined;
}

/** Checks whether a requirement is a regular expression that finds the same each time. */
export function isPattern(requirement: unknown): requirement is RegExp {
  return requirement instanceof RegExp && !requirement.global && !requirement.sticky;
}
