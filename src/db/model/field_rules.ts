/**
 * The rules that a field sets for its values, beside its kind: they hold for all that a repository
 * writes.
 *
 * @module
 */
import type { FieldKind } from "./field_kind.ts";
import { decimalDigits, type DecimalSize } from "./stored_value.ts";

/** The least and the largest value, both of which are allowed. */
export interface Bounds<T extends number | bigint | string = number | bigint | string> {
  /** The least value. */
  readonly min?: T;
  /** The largest value. */
  readonly max?: T;
}

/** A test of the values of a field. */
export interface ValueTest {
  /** What the field takes, for error messages: `"at most 80 characters"`. */
  readonly takes: string;
  /** Whether it takes a value, which is one of the field's kind. */
  readonly admits: (value: unknown) => boolean;
  /** What it tests, unless it is a test of `check`: a bound, a format, the elements of a list. */
  readonly rule?: "min" | "max" | "email" | "elements";
}

/** The rules of a field. */
export interface FieldRules {
  /** The least and the largest value, or number of characters of a text. */
  readonly bounds?: Bounds;
  /** The format of a text. */
  readonly format?: "email";
  /** The tests of `check`. */
  readonly tests?: readonly ValueTest[];
}

/** A kind, and the digits of its decimals. */
interface BoundedKind {
  readonly kind: FieldKind;
  readonly size: DecimalSize;
}

/** What the rules of a field depend on. */
interface RuledField {
  readonly kind: FieldKind;
  readonly traits: {
    readonly size: DecimalSize;
    readonly rules?: FieldRules;
    readonly element?: RuledField | undefined;
  };
}

/** The kinds whose values have bounds, or whose length has; decimals are text. */
const BOUND_TYPES: Partial<Record<FieldKind, string>> = {
  text: "number",
  integer: "number",
  bigint: "bigint",
  real: "number",
  decimal: "string",
};
/** A valid email address of HTML: https://html.spec.whatwg.org/#valid-e-mail-address */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;
/** The longest address that a mail server has to accept: RFC 5321, section 4.5.3.1.3. */
export const MAX_EMAIL = 254;
const EMAIL_TEST: ValueTest = { takes: "an email address", admits: isEmail, rule: "email" };

/**
 * Checks the bounds of a field where they are declared.
 *
 * @throws {TypeError} if one is not a value of the field, or there are no values between them
 */
export function checkBounds(bounds: Bounds, { kind, size }: BoundedKind): void {
  const values = Object.entries(bounds).filter(([, value]) => value !== undefined);
  for (const [name, value] of values) {
    const isBound = name === "min" || name === "max";
    if (!isBound) throw new TypeError(`Cannot define ${kind}: there is no option ${name}`);
    const isWhole = kind === "text" || kind === "integer";
    const isValue = typeof value === BOUND_TYPES[kind] &&
      (kind !== "text" || (value as number) >= 0) &&
      (!isWhole || Number.isSafeInteger(value)) && (kind !== "real" || Number.isFinite(value)) &&
      (kind !== "decimal" || decimalDigits(value as string, size) !== undefined);
    if (!isValue) throw new TypeError(`Cannot define ${kind}: ${name} is not one of its values`);
  }
  const { min, max } = bounds;
  if (min === undefined || max === undefined) return;
  if (comparable(min, size) > comparable(max, size)) {
    throw new TypeError(`Cannot define ${kind}: min is over max`);
  }
}

/** Returns the tests of the values of a field: of an array, first those of its elements. */
export function testsOf(field: RuledField): ValueTest[] {
  const { element } = field.traits;
  const ofEach = element ? testsOf(element) : [];
  const ofElements = ofEach.map(({ takes, admits }): ValueTest => ({
    takes: `elements, each ${takes}`,
    admits: (values) => (values as readonly unknown[]).every(admits),
    rule: "elements",
  }));
  return [...ofElements, ...ownTestsOf(field)];
}

/** Returns the tests of a field without those of the elements of an array. */
export function ownTestsOf({ kind, traits: { size, rules = {} } }: RuledField): ValueTest[] {
  const { bounds: { min, max } = {}, format, tests = [] } = rules;
  return [
    ...min === undefined ? [] : [leastOf(min, { kind, size })],
    ...max === undefined ? [] : [mostOf(max, { kind, size })],
    ...format === "email" ? [EMAIL_TEST] : [],
    ...tests,
  ];
}

type Bound = number | bigint | string;

/** Returns a value that can be compared with those of the same kind. */
function comparable(value: Bound, size: DecimalSize): number | bigint {
  return typeof value === "string" ? decimalDigits(value, size)! : value;
}

function leastOf(min: Bound, { kind, size }: BoundedKind): ValueTest {
  if (kind === "text") {
    const least = Number(min);
    return {
      takes: `at least ${charactersOf(least)}`,
      admits: (text) => !hasAtMost(text as string, least - 1),
      rule: "min",
    };
  }
  const least = comparable(min, size);
  return {
    takes: `at least ${min}`,
    admits: (value) => comparable(value as Bound, size) >= least,
    rule: "min",
  };
}

/** Returns the test of texts of at most a number of characters. */
export function textOfAtMost(max: number): ValueTest {
  return {
    takes: `at most ${charactersOf(max)}`,
    admits: (text) => hasAtMost(text as string, max),
    rule: "max",
  };
}

function mostOf(max: Bound, { kind, size }: BoundedKind): ValueTest {
  if (kind === "text") return textOfAtMost(Number(max));
  const most = comparable(max, size);
  return {
    takes: `at most ${max}`,
    admits: (value) => comparable(value as Bound, size) <= most,
    rule: "max",
  };
}

function charactersOf(count: number): string {
  return `${count} character${count === 1 ? "" : "s"}`;
}

/** Checks whether a text has at most a number of code points. */
function hasAtMost(text: string, max: number): boolean {
  // Most text need not be counted: a code point has one or two code units.
  return text.length <= max || (text.length <= 2 * max && Array.from(text).length <= max);
}

function isEmail(value: unknown): boolean {
  return (value as string).length <= MAX_EMAIL && EMAIL.test(value as string);
}
