/**
 * The schemas of the values of a field: in the JSON that is received, in the JSON that is sent, and
 * in a text, as of a path or a query.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { base64Of } from "../../platform/base64.ts";
import { isValibot } from "../../core/schema/libraries/valibot.ts";
import type { Field } from "../model/field.ts";
import {
  type ElementValue,
  FIELD_KINDS,
  type FieldDetail,
  type FieldFlag,
  type FieldKind,
  isBytes,
  isDay,
  type KindInput,
  type KindValue,
  TIME,
} from "../model/field_kind.ts";
import { MAX_EMAIL, ownTestsOf } from "../model/field_rules.ts";
import type { AnyField } from "../model/model.ts";

/** A schema of valibot. */
export type ValueSchema = v.GenericSchema<unknown, unknown>;

/** The JSON of a value that is received; a text if JSON has no such values. */
export type ReceivedValue<F> = F extends Field<infer K, infer Flag, infer _, infer V>
  ? ReceivedKind<K, V> | NullOf<Flag>
  : never;

/** The JSON of a value of a kind that is received. */
export type ReceivedKind<K extends FieldKind, V extends FieldDetail> = K extends TextInJson ? string
  : K extends "array" ? readonly (V extends TextInJson ? string : ElementValue<V>)[]
  : KindInput<K, V>;

/** The JSON of a value that is sent. */
export type SentValue<F> = F extends Field<infer K, infer Flag, infer _, infer V>
  ? SentKind<K, V> | NullOf<Flag>
  : never;

/** The JSON of a value of a kind that is sent; a `Date` becomes text when it is written. */
export type SentKind<K extends FieldKind, V extends FieldDetail> = K extends "bigint" | "blob"
  ? string
  : K extends "array" ? (V extends "bigint" ? string : ElementValue<V>)[]
  : KindValue<K, V>;

/** The kinds whose values are a text in JSON, and nowhere else. */
export type TextInJson = "bigint" | "timestamp" | "blob";

/** The `null` of a field. */
export type NullOf<Flag extends FieldFlag> = "nullable" extends Flag ? null : never;

/** An action that checks a value. */
type Check = v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>;

/** At most the digits of 64 bits. */
const INTEGER = /^-?\d{1,19}$/;
const DECIMAL = /^-?\d+(?:\.\d+)?$/;
/** RFC 3339, section 5.6, with a time that valibot checks. */
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d)$/;

/** Returns the schema of the JSON from which a value of a field is read, with its rules. */
export function receivedSchema(field: AnyField): ValueSchema {
  const schema = v.pipe(readSchema(field), ...rulesOf(field));
  return field.flags.has("nullable") ? v.nullable(schema) : schema;
}

/** Returns the schema of a value that is sent. It has no rules: rows are read as they are. */
export function sentSchema(field: AnyField): ValueSchema {
  const schema = SENT[field.kind](field);
  return field.flags.has("nullable") ? v.nullable(schema) : schema;
}

/**
 * Returns the schema of the text from which a value of a field is read, without its rules. JSON and
 * arrays have none.
 */
export function textSchema(field: AnyField): ValueSchema | undefined {
  const { kind } = field;
  return kind === "json" || kind === "array" ? undefined : IN_TEXT[kind] ?? readSchema(field);
}

/** Returns the schema that reads what every database stores unchanged. */
function readSchema(field: AnyField): ValueSchema {
  const schema = RECEIVED[field.kind](field);
  const expected = KEPT[field.kind]?.(field.traits);
  if (expected === undefined) return schema;
  return v.pipe(schema, v.check((value) => isKept(value, field), `Expected ${expected}`));
}

function isKept(value: unknown, { kind, traits }: AnyField): boolean {
  return FIELD_KINDS[kind].keeps(value, traits);
}

type SchemaByKind = Readonly<Record<FieldKind, (field: AnyField) => ValueSchema>>;

const RECEIVED: SchemaByKind = {
  integer: () => v.pipe(v.number(), v.safeInteger()),
  bigint: (field) =>
    v.pipe(
      v.string(),
      v.regex(INTEGER, WHOLE_NUMBER),
      v.metadata(numberIn("int64", field)),
      v.toBigint(),
    ),
  text: () => v.string(),
  enum: listSchema,
  boolean: () => v.boolean(),
  real: () => v.pipe(v.number(), v.finite()),
  decimal: (field) =>
    v.pipe(
      v.string(),
      v.regex(decimalOf(field), ({ input }) =>
        DECIMAL.test(input)
          ? `Expected ${digitsOf(field.traits)}`
          : "Expected a number such as 12.50"),
      v.metadata(numberIn("decimal", field)),
      v.string(),
    ),
  json: (field) => jsonSchema(field) ?? v.nonNullable(v.unknown()),
  timestamp: () =>
    v.pipe(
      v.string(),
      v.isoTimestamp("Expected a time such as 2026-11-27T09:30:00Z"),
      // A second schema stops at the issue of the first.
      v.string(),
      v.check(isInstant, "Expected a time that exists, in the form of RFC 3339"),
      v.toDate(),
    ),
  date: () => v.pipe(v.string(), v.isoDate("Expected a date such as 2026-11-27"), v.string()),
  time: () => v.pipe(v.string(), v.regex(TIME, "Expected a time such as 12:30:00")),
  uuid: () => v.pipe(v.string(), v.uuid()),
  blob: () => v.pipe(v.string(), v.base64(), v.transform(bytesOf)),
  array: ({ traits: { element } }) => v.array(receivedSchema(element as AnyField)),
};

const TEXT = "well-formed text without U+0000";

/** The values that every database stores, where the schema of a kind allows others. */
const KEPT: Partial<Record<FieldKind, (traits: AnyField["traits"]) => string>> = {
  bigint: () => "a whole number of 64 bits",
  text: () => TEXT,
  decimal: digitsOf,
  json: () => `JSON of at most 31 levels, of finite numbers and ${TEXT}`,
  timestamp: () => "a time of the years 1000 to 9999",
  date: () => "a date that exists, of the years 1000 to 9999",
};

const WHOLE_NUMBER = "Expected a whole number";

/** The kinds whose text is not that of JSON. */
const IN_TEXT: Partial<Record<FieldKind, ValueSchema>> = {
  integer: v.pipe(v.string(), v.regex(INTEGER, WHOLE_NUMBER), v.toNumber(), v.safeInteger()),
  real: v.pipe(v.string(), v.decimal("Expected a number"), v.toNumber(), v.finite()),
  boolean: v.pipe(v.picklist(["true", "false"]), v.transform((text) => text === "true")),
};

const SENT: SchemaByKind = {
  integer: () => v.pipe(v.number(), v.integer()),
  bigint: () => v.pipe(v.bigint(), v.toString(), v.string(), v.regex(INTEGER)),
  text: () => v.string(),
  enum: listSchema,
  boolean: () => v.boolean(),
  real: () => v.number(),
  decimal: () => v.pipe(v.string(), v.regex(DECIMAL)),
  json: (field) => jsonSchema(field) ?? v.unknown(),
  timestamp: () => v.date(),
  date: () => v.pipe(v.string(), v.isoDate()),
  time: () => v.string(),
  uuid: () => v.pipe(v.string(), v.uuid()),
  blob: () => v.pipe(v.custom<Uint8Array>(isBytes), v.transform(base64Of), v.string(), v.base64()),
  array: ({ traits: { element } }) => v.array(sentSchema(element as AnyField)),
};

/** Returns the rules of a field as actions, which JSON Schema describes where it can. */
function rulesOf(field: AnyField): Check[] {
  const { min, max } = field.traits.rules?.bounds ?? {};
  return ownTestsOf(field).flatMap(({ takes, admits, rule }): unknown[] => {
    const message = `Expected ${takes}`;
    if (rule === "email") return [v.rfcEmail(message), v.maxLength(MAX_EMAIL, message)];
    const bound = rule === "min" || rule === "max" ? BOUNDS[field.kind]?.[rule] : undefined;
    const limit = Number(rule === "min" ? min : max);
    if (bound) return [bound(limit, message)];
    // A value of another kind has an issue already.
    return [v.check((value) => !isKept(value, field) || admits(value), message)];
  }) as Check[]; // they check values of the kind, which the schema before them has
}

type Bound = (limit: number, message: string) => unknown;

/** The bounds that JSON Schema can describe, as actions of valibot. */
const BOUNDS: Partial<Record<FieldKind, Readonly<Record<"min" | "max", Bound>>>> = {
  text: { min: v.minCodePoints, max: v.maxCodePoints },
  integer: { min: v.minValue, max: v.maxValue },
  real: { min: v.minValue, max: v.maxValue },
};

function digitsOf({ size: { precision, scale } }: AnyField["traits"]): string {
  return `a decimal number of at most ${precision} digits, ${scale} of them after the point`;
}

/** Returns the pattern of the numbers of a decimal, with any zeros around their digits. */
function decimalOf({ traits: { size: { precision, scale } } }: AnyField): RegExp {
  const whole = precision > scale ? `0*\\d{1,${precision - scale}}` : "0+";
  const fraction = scale > 0 ? `\\d{1,${scale}}0*` : "0+";
  return new RegExp(`^-?${whole}(?:\\.${fraction})?$`);
}

/** Describes a text that is a number in JSON Schema: its format, and its bounds. */
function numberIn(format: "int64" | "decimal", { traits: { rules } }: AnyField) {
  const { min, max } = rules?.bounds ?? {};
  return {
    format,
    ...min !== undefined && { minimum: Number(min) },
    ...max !== undefined && { maximum: Number(max) },
  };
}

function listSchema({ traits: { list = "" } }: AnyField): ValueSchema {
  return v.picklist(list.split("|"));
}

/** Returns the schema of JSON if it can be part of another: one of valibot that only checks. */
function jsonSchema({ traits: { of } }: AnyField): ValueSchema | undefined {
  return typeof of === "object" && isValibot(of) && onlyChecks(of)
    ? of as StandardSchemaV1 as ValueSchema
    : undefined;
}

/** Checks whether no part of a schema converts a value, completes it or waits. */
function onlyChecks(part: object): boolean {
  const { kind, type, async, default: value, fallback } = part as Readonly<Record<string, unknown>>;
  if (kind === "transformation" || type === "lazy" || async === true) return false;
  if (value !== undefined || fallback !== undefined) return false;
  return Object.entries(part).every(([name, member]) =>
    name.startsWith("~") || typeof member !== "object" || member === null || onlyChecks(member)
  );
}

function isInstant(text: string): boolean {
  return INSTANT.test(text) && isDay(text.slice(0, 10));
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
