/**
 * JSON values that a schema refuses, at random: each wrong in one place.
 *
 * @module
 */
import fc from "fast-check";
import { isJsonSchema, type JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { asBoolean } from "../boolean_schema.ts";
import { anyText, hasLength } from "./arbitrary_text.ts";
import { type SchemaContext, valueOf } from "./arbitrary_value.ts";
import { alternativesOf } from "./plain_schema.ts";
import { rangeOf } from "./range.ts";

/** Below this, nothing is made wrong. */
const MAX_DEPTH = 3;

/** Values of each type. */
const primitives = [null, true, false, 0, -1.5, 1e300, "", "text"];
const objects = [{}, { a: 1 }];
const arrays = [[], [1]];

/** Values that a schema mostly refuses; `undefined` if it takes any. */
export function violationOf(
  schema: unknown,
  context: SchemaContext,
): fc.Arbitrary<unknown> | undefined {
  const alternatives = alternativesOf(schema, context.resolve);
  if (alternatives.some((plain) => Object.keys(plain).every((key) => !ASSERTIONS.has(key)))) {
    return undefined;
  }
  const nested = (context.depth ?? 0) < MAX_DEPTH
    ? alternatives.flatMap((plain) => violationsOf(plain, context))
    : [];
  return fc.oneof(fc.constantFrom<unknown[]>(...ofOtherTypes(alternatives, context)), ...nested);
}

/**
 * Returns values of other types. Within a body, an array is not tried in place of an object that
 * needs no property: only valibot and arktype accept it as one.
 */
function ofOtherTypes(
  alternatives: readonly JsonSchema[],
  { depth = 0 }: SchemaContext,
): unknown[] {
  const isLoose = alternatives.some(({ type, required = [] }) =>
    type === "object" && (required as unknown[]).length === 0
  );
  return [...primitives, ...objects, ...depth > 0 && isLoose ? [] : arrays];
}

/** Keywords by which a schema refuses something. */
const ASSERTIONS = new Set(["type", "enum", "const", "not", "if", "minimum", "maximum"]);

/** Returns values of the type of a plain schema that violate another of its keywords. */
export function violationsOf(
  schema: JsonSchema,
  context: SchemaContext,
): readonly fc.Arbitrary<unknown>[] {
  if ("const" in schema || "enum" in schema) return [anyText({ maxLength: 10 }), fc.integer()];
  switch (schema.type) {
    case "integer":
    case "number":
      return numberViolations(schema);
    case "string":
      return textViolations(schema);
    case "array":
      return arrayViolations(schema, context);
    case "object":
      return objectViolations(schema, context);
    default:
      return [];
  }
}

function numberViolations(schema: JsonSchema): readonly fc.Arbitrary<number>[] {
  const { min, max } = rangeOf(schema);
  const distance = fc.oneof(fc.integer({ min: 0, max: 10 }), fc.constantFrom(1e6, 1e20));
  return [
    ...Number.isFinite(min) ? [distance.map((by) => min - by)] : [],
    ...Number.isFinite(max) ? [distance.map((by) => max + by)] : [],
    ...schema.type === "integer" ? [fc.integer({ min: -100, max: 100 }).map((n) => n + 0.5)] : [],
    ...schema.multipleOf ? [fc.double({ min: -1e6, max: 1e6, noNaN: true })] : [],
  ];
}

function textViolations(schema: JsonSchema): readonly fc.Arbitrary<string>[] {
  const minLength = Number(schema.minLength ?? 0);
  const maxLength = Number(schema.maxLength ?? Infinity);
  const limits = { minLength, maxLength: Math.min(maxLength, minLength + 100) };
  const tooLong = { minLength: maxLength + 1, maxLength: maxLength * 2 + 10, size: "max" as const };
  return [
    ...minLength > 0
      ? [anyText({ maxLength: minLength - 1 }).filter((text) => hasLength(text, 0, minLength - 1))]
      : [],
    ...maxLength < Infinity
      ? [
        anyText(tooLong).filter((text) => hasLength(text, maxLength + 1, Infinity)),
        fc.constantFrom(...LONG_TEXTS),
      ]
      : [],
    // libraries accept URLs as browsers do, which take more than RFC 3986
    ...schema.pattern !== undefined || schema.format !== undefined
      ? [anyText(limits).filter((text) => URL.parse(text) === null), fc.constantFrom(...LONG_TEXTS)]
      : [],
  ];
}

/** Texts that are longer than expected, and within the limit of bodies. */
const LONG_TEXTS = ["x".repeat(200_000), "\\".repeat(100_000), ".".repeat(20_000)];

function arrayViolations(
  schema: JsonSchema,
  context: SchemaContext,
): readonly fc.Arbitrary<unknown>[] {
  const inner = { ...context, depth: (context.depth ?? 0) + 1 };
  const item = violationOf(schema.items ?? true, inner);
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const { minItems, maxItems, uniqueItems } = schema;
  const good = valueOf({ ...schema, maxItems: maxItems ?? 4 }, context) as fc.Arbitrary<unknown[]>;
  const sized = (minItems: number, maxItems: number) =>
    valueOf({ type: "array", items: schema.items ?? true, minItems, maxItems }, context);
  return [
    ...item ? [fc.tuple(good, item, fc.nat()).map(inserted)] : [],
    ...prefix.flatMap((part, i) => {
      const wrong = violationOf(part, inner);
      return wrong ? [fc.tuple(good, wrong).map(([array, wrong]) => array.with(i, wrong))] : [];
    }),
    ...prefix.length > 0
      ? [good.map((array) => array.slice(0, -1)), good.map((array) => [...array, null])]
      : [],
    ...Number(minItems) > 0 ? [sized(0, Number(minItems) - 1)] : [],
    ...maxItems !== undefined ? [sized(Number(maxItems) + 1, Number(maxItems) + 5)] : [],
    ...uniqueItems === true ? [good.map((array) => [...array, ...array])] : [],
  ];
}

function inserted([array, item, at]: readonly [unknown[], unknown, number]): unknown[] {
  return array.toSpliced(at % (array.length + 1), 0, item);
}

function objectViolations(
  schema: JsonSchema,
  context: SchemaContext,
): readonly fc.Arbitrary<unknown>[] {
  const inner = { ...context, depth: (context.depth ?? 0) + 1 };
  const good = valueOf(schema, context) as fc.Arbitrary<object>;
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const properties = isJsonSchema(schema.properties) ? schema.properties : {};
  const { additionalProperties = true, maxProperties } = schema;
  const other = asBoolean(additionalProperties, context.resolve) === false
    ? fc.constant("more")
    : violationOf(additionalProperties, inner);
  const set = (name: string, value: fc.Arbitrary<unknown>) =>
    fc.tuple(good, value).map(([object, value]) =>
      Object.fromEntries([...Object.entries(object), [name, value]])
    );
  return [
    ...required.map((name) =>
      good.map((object) =>
        Object.fromEntries(Object.entries(object).filter(([key]) => key !== name))
      )
    ),
    ...Object.entries(properties).flatMap(([name, property]) => {
      const isLenient = context.undocumented?.lenient?.includes(name);
      const wrong = isLenient ? undefined : violationOf(property, inner);
      return wrong ? [set(name, wrong)] : [];
    }),
    ...other ? [set("another", other)] : [],
    ...maxProperties !== undefined
      ? [
        valueOf({
          ...schema,
          minProperties: Number(maxProperties) + 1,
          maxProperties: Number(maxProperties) + 3,
        }, context),
      ]
      : [],
  ];
}
