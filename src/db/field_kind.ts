/**
 * The kinds of field: the JavaScript value each holds, and what no database could keep of it.
 *
 * @module
 */

/** The JavaScript type of a value of each kind. */
export interface FieldValues {
  /** A whole number within ±(2^53 - 1). */
  integer: number;
  /** Well-formed Unicode without U+0000. */
  text: string;
  /** True or false. */
  boolean: boolean;
  /** A finite double. */
  real: number;
}

/** The name of a kind. */
export type FieldKind = keyof FieldValues;

/** What is known of a kind, whatever the database. */
export interface FieldKindRules {
  /** Its JavaScript type, for error messages. */
  readonly type: string;
  /** Whether `lt`, `lte`, `gt` and `gte` make sense. */
  readonly ordered: boolean;
  /** Tells whether a value is of the JavaScript type. */
  readonly accepts: (value: unknown) => boolean;
  /** Tells whether every database keeps a value of that type as it is. */
  readonly keeps: (value: unknown) => boolean;
}

/** The rules of each kind. */
export const FIELD_KINDS: Readonly<Record<FieldKind, FieldKindRules>> = {
  integer: { type: "a number", ordered: true, accepts: isNumber, keeps: Number.isSafeInteger },
  text: { type: "a string", ordered: true, accepts: isString, keeps: isStorableText },
  boolean: { type: "a boolean", ordered: false, accepts: isBoolean, keeps: isBoolean },
  real: { type: "a number", ordered: true, accepts: isNumber, keeps: Number.isFinite },
};

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

/**
 * PostgreSQL refuses U+0000, reading SQLite on Deno cuts the text there, and every driver replaces
 * lone surrogates in silence.
 */
function isStorableText(value: unknown): boolean {
  return isString(value) && value.isWellFormed() && !value.includes("\0");
}
