/**
 * The kinds of field: the JavaScript type of each, and the values that every database can store.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import {
  decimalDigits,
  type DecimalSize,
  isJson,
  isStorableJson,
  isStorableText,
  type JsonValue,
} from "./stored_value.ts";

/** The values of a list such as `"draft|published"`. */
export type Split<List extends string, Values = never> = List extends `${infer Value}|${infer Rest}`
  ? Split<Rest, Values | Value>
  : Values | List;

/** The list of the values of a tuple, such as `"draft|published"`. */
export type Joined<V, List extends string = ""> = V extends
  readonly [infer Value extends string, ...infer Rest]
  ? Joined<Rest, List extends "" ? Value : `${List}|${Value}`>
  : V extends readonly [] ? List
  : string;

/**
 * What a field consists of beside its kind: the values of an enum, such as `"draft|published"`, the
 * text of the kind of an array's elements, such as `"text"`, or the schema of JSON.
 */
export type FieldDetail = string | StandardSchemaV1;

/** The kinds of the elements of arrays. */
export type ElementKind = Exclude<FieldKind, "json" | "blob" | "array">;

/** The text of the kind of elements: `"text"`, `"enum(draft|published)"`. */
export type ElementText<K extends FieldKind, V extends FieldDetail> = K extends "enum"
  ? `enum(${Extract<V, string>})`
  : K;

/** The JavaScript type of the elements of an array, by the text of their kind. */
export type ElementValue<T extends FieldDetail> = T extends `enum(${infer List})` ? Split<List>
  : T extends FieldKind ? FieldValues[T]
  : unknown;

/** The JavaScript type of a value of a kind. */
export type KindValue<K extends FieldKind, V extends FieldDetail> = K extends "enum"
  ? Split<Extract<V, string>>
  : K extends "array" ? ElementValue<V>[]
  : K extends "json" ? V extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<V> : JsonValue
  : FieldValues[K];

/** The JavaScript type of a value of a kind that is written. */
export type KindInput<K extends FieldKind, V extends FieldDetail> = K extends "array"
  ? readonly ElementValue<V>[]
  : K extends "json" ? V extends StandardSchemaV1 ? StandardSchemaV1.InferInput<V> : JsonValue
  : KindValue<K, V>;

/** The JavaScript type of a value of each kind. */
export interface FieldValues {
  /** A whole number within ±(2^53 - 1). */
  integer: number;
  /** A whole number from -(2^63) to 2^63 - 1. */
  bigint: bigint;
  /** Well-formed Unicode without U+0000. */
  text: string;
  /** One of a list of texts. */
  enum: string;
  /** True or false. */
  boolean: boolean;
  /** A finite double. */
  real: number;
  /** A decimal number, such as `"-12.50"`. */
  decimal: string;
  /** A JSON value; JSON's `null` is the column's `null`. */
  json: JsonValue;
  /** An instant in milliseconds, in the years 1000 to 9999. */
  timestamp: Date;
  /** A date of the calendar, of the years 1000 to 9999: `"2026-11-26"`. */
  date: string;
  /** A time of the day: `"12:30:00"`, or with milliseconds that are not 0, `"12:30:00.500"`. */
  time: string;
  /** A UUID in lower case. */
  uuid: string;
  /** Bytes. */
  blob: Uint8Array;
  /** A list of values of another kind. */
  array: readonly unknown[];
}

/** The name of a kind. */
export type FieldKind = keyof FieldValues;

/** The flags of a field. */
export type FieldFlag =
  | "primaryKey"
  | "unique"
  | "nullable"
  | "default"
  | "clock"
  | "deletedAt"
  | "version";

/** The limits of the values of a field. */
export interface ValueLimits {
  /** The digits of a decimal. */
  readonly size: DecimalSize;
  /** The values of an enum, such as `"draft|published"`. */
  readonly list?: string | undefined;
  /** The field that an element of an array is a value of. */
  readonly element?: { readonly kind: FieldKind; readonly traits: ValueLimits } | undefined;
}

/** The rules of a kind, on every database. */
export interface FieldKindRules {
  /** Its JavaScript type, for error messages. */
  readonly type: string;
  /** Whether `equals`, `in` and `distinct` apply. */
  readonly comparable: boolean;
  /** Whether `lt`, `lte`, `gt` and `gte` apply. */
  readonly ordered: boolean;
  /** Whether `increment` and `decrement` apply. */
  readonly numeric: boolean;
  /** Checks whether a value is of the JavaScript type. */
  readonly accepts: (value: unknown) => boolean;
  /** Checks whether every database stores a value of that type unchanged. */
  readonly keeps: (value: unknown, limits: ValueLimits) => boolean;
}

const FIRST_INSTANT = Date.UTC(1000, 0, 1);
const LAST_INSTANT = Date.UTC(10_000, 0, 1) - 1;
const DAY = /^[1-9]\d{3}-\d\d-\d\d$/;
/** A time of the day, to milliseconds, which only one text has. */
export const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(?!000)\d{3})?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The rules of each kind. */
export const FIELD_KINDS: Readonly<Record<FieldKind, FieldKindRules>> = {
  integer: { ...ordered("a number", isNumber, Number.isSafeInteger), numeric: true },
  bigint: { ...ordered("a bigint", isBigint, isInt64), numeric: true },
  text: ordered("a string", isString, isStorableText),
  enum: { ...ordered("a string", isString, isListed), ordered: false },
  boolean: { ...ordered("a boolean", isBoolean, isBoolean), ordered: false },
  real: { ...ordered("a number", isNumber, Number.isFinite), numeric: true },
  decimal: { ...ordered("a string", isString, isDecimal), numeric: true },
  json: {
    type: "JSON",
    comparable: false,
    ordered: false,
    numeric: false,
    accepts: (value) => isJson(value),
    keeps: (value) => isStorableJson(value),
  },
  timestamp: ordered("a Date", isDate, isStorableInstant),
  date: ordered("a string", isString, isDay),
  time: ordered("a string", isString, isTime),
  uuid: ordered("a string", isString, isUuid),
  blob: { ...ordered("a Uint8Array", isBytes, isBytes), ordered: false },
  array: {
    ...ordered("a list", Array.isArray, isListOfElements),
    comparable: false,
    ordered: false,
  },
};

function ordered(
  type: string,
  accepts: FieldKindRules["accepts"],
  keeps: FieldKindRules["keeps"],
): FieldKindRules {
  return { type, comparable: true, ordered: true, numeric: false, accepts, keeps };
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

function isBigint(value: unknown): value is bigint {
  return typeof value === "bigint";
}

function isInt64(value: unknown): boolean {
  return isBigint(value) && BigInt.asIntN(64, value) === value;
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isListOfElements(value: unknown, { element }: ValueLimits): boolean {
  if (!Array.isArray(value) || !element) return false;
  const { accepts, keeps } = FIELD_KINDS[element.kind];
  // A sparse list has elements that are undefined.
  return Array.from(value).every((it) => accepts(it) && keeps(it, element.traits));
}

/** Checks whether a value is in the list of an enum. */
export function isListed(value: unknown, { list = "" }: Pick<ValueLimits, "list">): boolean {
  return isString(value) && list.split("|").includes(value);
}

function isDecimal(value: unknown, { size }: ValueLimits): boolean {
  return isString(value) && decimalDigits(value, size) !== undefined;
}

function isDate(value: unknown): value is Date {
  return value instanceof Date;
}

function isStorableInstant(value: unknown): boolean {
  return isDate(value) && value.getTime() >= FIRST_INSTANT && value.getTime() <= LAST_INSTANT;
}

/** Checks whether a value is a date that exists. */
export function isDay(value: unknown): value is string {
  if (!isString(value) || !DAY.test(value)) return false;
  const date = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value);
}

/** Checks whether a value is a time of the day. */
export function isTime(value: unknown): value is string {
  return isString(value) && TIME.test(value);
}

/** Checks whether a value is a UUID, in lower or upper case. */
export function isUuid(value: unknown): boolean {
  return isString(value) && UUID.test(value);
}

/** Checks whether a value is bytes. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}
