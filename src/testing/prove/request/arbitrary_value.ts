/**
 * JSON values that satisfy a schema, at random.
 *
 * @module
 */
import fc from "fast-check";
import { isJsonSchema, type JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { asBoolean } from "../boolean_schema.ts";
import type { Undocumented } from "../options.ts";
import { anyText, textOf } from "./arbitrary_text.ts";
import { cannotGenerate, keep } from "./keep.ts";
import { rangeOf } from "./range.ts";
import { alternativesOf, type Resolve } from "./plain_schema.ts";

/** What surrounds a schema. */
export interface SchemaContext {
  /** Resolves its references. */
  readonly resolve: Resolve;
  /** Facts that the document does not describe. */
  readonly undocumented?: Undocumented | undefined;
  /** The number of schemas around it. */
  readonly depth?: number;
}

/** Below this depth, optional parts are not generated: a schema can contain itself. */
const MAX_DEPTH = 3;

/** Deeper than any body is read: below it, only what contains itself without end is required. */
const MAX_NESTING = 600;

/** Any JSON. */
const anyJson: fc.Arbitrary<unknown> = fc.jsonValue({ maxDepth: 2 });

/** Names of properties, with those that objects have by themselves. */
const anyName = fc.oneof(
  anyText({ maxLength: 10 }),
  fc.constantFrom("__proto__", "constructor", "toString", "id", "tenant_id", "0", ""),
);

/** Values that satisfy a schema; with keywords that are not known here, they do not always. */
export function valueOf(schema: unknown, context: SchemaContext): fc.Arbitrary<unknown> {
  const { resolve, depth = 0 } = context;
  const alternatives = [...alternativesOf(schema, resolve)];
  const simple = alternatives.filter(({ type }) => type !== "object" && type !== "array");
  const chosen = depth > MAX_DEPTH && simple.length > 0 ? simple : alternatives;
  if (chosen.length === 0 || depth > MAX_NESTING) cannotGenerate(schema);
  return fc.oneof(...chosen.map((plain) => plainValue(plain, context)));
}

function plainValue(schema: JsonSchema, context: SchemaContext): fc.Arbitrary<unknown> {
  if ("const" in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) {
    return schema.enum.length > 0 ? fc.constantFrom(...schema.enum) : cannotGenerate(schema);
  }
  switch (schema.type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return integerOf(schema);
    case "number":
      return numberOf(schema);
    case "string":
      return textOf(schema);
    case "array":
      return arrayOf(schema, context);
    case "object":
      return objectOf(schema, context);
    default:
      return anyJson;
  }
}

function integerOf(schema: JsonSchema): fc.Arbitrary<number> {
  const { min, max } = integersOf(schema);
  const step = Number(schema.multipleOf ?? 1);
  const within = (limit: number) => {
    // a bound beyond the limit is kept
    const least = Math.ceil(Math.max(min, Math.min(-limit, max)) / step);
    const greatest = Math.floor(Math.min(max, Math.max(limit, min)) / step);
    if (!(least <= greatest)) return cannotGenerate(schema);
    const numbers = fc.bigInt({ min: BigInt(least), max: BigInt(greatest) })
      .map((n) => Number(n) * step);
    return keep(numbers, (n) => n >= min && n <= max && n % step === 0, schema);
  };
  if (min > 1000 || max < -1000) return within(1e30);
  return fc.oneof(within(1000), within(2 ** 53), within(1e30));
}

/** The least and the greatest integer that a schema takes. */
function integersOf(schema: JsonSchema): { readonly min: number; readonly max: number } {
  const { min, max } = rangeOf(schema);
  return {
    min: schema.exclusiveMinimum === min ? Math.floor(min) + 1 : Math.ceil(min),
    max: schema.exclusiveMaximum === max ? Math.ceil(max) - 1 : Math.floor(max),
  };
}

function numberOf(schema: JsonSchema): fc.Arbitrary<number> {
  if (typeof schema.multipleOf === "number") return multipleOf(schema, schema.multipleOf);
  const { min, max } = rangeOf(schema);
  if (min > max) cannotGenerate(schema);
  const doubles = fc.double({
    min: Math.max(min, -Number.MAX_VALUE), // JSON has no infinity
    max: Math.min(max, Number.MAX_VALUE),
    noNaN: true,
    minExcluded: schema.exclusiveMinimum === min,
    maxExcluded: schema.exclusiveMaximum === max,
  });
  const integers = integersOf(schema);
  return integers.min <= integers.max ? fc.oneof(doubles, integerOf(schema)) : doubles;
}

/** Multiples that are small enough for exact arithmetic. */
function multipleOf(schema: JsonSchema, step: number): fc.Arbitrary<number> {
  const { min, max } = rangeOf(schema);
  const minimum = Math.ceil(Math.max(min, -1e6) / step);
  const maximum = Math.floor(Math.min(max, 1e6) / step);
  if (minimum > maximum) cannotGenerate(schema);
  return integerOf({ minimum, maximum }).map((n) => Number((n * step).toPrecision(12)));
}

function arrayOf(schema: JsonSchema, context: SchemaContext): fc.Arbitrary<unknown[]> {
  const { depth = 0 } = context;
  const inner = { ...context, depth: depth + 1 };
  const first = (Array.isArray(schema.prefixItems) ? schema.prefixItems : [])
    .map((item) => valueOf(item, inner));
  const minLength = Math.max(0, Number(schema.minItems ?? 0) - first.length);
  const atMost = depth > MAX_DEPTH ? minLength : Number(schema.maxItems ?? minLength + 5);
  const hasMore = asBoolean(schema.items, context.resolve) !== false &&
    !(first.length > 0 && schema.items === undefined);
  const limits = { minLength, maxLength: Math.max(minLength, atMost - first.length) };
  const item = depth > MAX_DEPTH && minLength === 0
    ? undefined
    : () => valueOf(schema.items ?? true, inner);
  const rest = !hasMore || !item
    ? fc.constant([])
    : schema.uniqueItems === true
    ? fc.uniqueArray(item(), { ...limits, selector: (value) => JSON.stringify(value) })
    : fc.array(item(), limits);
  return fc.tuple(fc.tuple(...first), rest).map(([first, rest]) => [...first, ...rest]);
}

function objectOf(schema: JsonSchema, context: SchemaContext): fc.Arbitrary<object> {
  const { depth = 0, undocumented: { patterns = {} } = {} } = context;
  const inner = { ...context, depth: depth + 1 };
  const properties = isJsonSchema(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const names = [...new Set([...Object.keys(properties), ...required])]
    .filter((name) =>
      required.includes(name) ||
      depth <= MAX_DEPTH && asBoolean(own(properties, name), context.resolve) !== false
    );
  const { additionalProperties = true, propertyNames } = schema;
  const meaning = asBoolean(additionalProperties, context.resolve);
  const known = fc.record(
    Object.fromEntries(
      names.map((name) => {
        const property = own(properties, name) ?? additionalProperties;
        const pattern = own(patterns, name);
        const known = pattern === undefined ? property : { allOf: [property, { pattern }] };
        return [name, valueOf(known, inner)];
      }),
    ),
    { requiredKeys: required },
  );
  if (meaning === false || depth > MAX_DEPTH) return known;
  const isOpen = meaning === true;
  const name = propertyNames === undefined ? anyName : valueOf(propertyNames, inner).map(String);
  const others = fc.array(
    fc.tuple(name, isOpen ? anyJson : valueOf(additionalProperties, inner)),
    { minLength: Number(schema.minProperties ?? 0), maxLength: Number(schema.maxProperties ?? 4) },
  );
  // what a schema only lets pass is seldom there
  const seldom = isOpen
    ? fc.oneof({ arbitrary: fc.constant([]), weight: 5 }, { arbitrary: others, weight: 1 })
    : others;
  return fc.tuple(seldom, known).map(([others, known]) =>
    Object.fromEntries([
      ...others.filter(([name]) => !Object.hasOwn(properties, name)),
      ...Object.entries(known),
    ])
  );
}

/** Returns a member of an object, but none that every object has, such as `constructor`. */
function own(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
