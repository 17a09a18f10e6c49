import assert from "node:assert/strict";
import * as v from "valibot";
import { type AnySchema, dto, route } from "../../mod.ts";
import type { JsonSchema } from "../../src/openapi/json_schema/json_schema.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";
import {
  applicationOf,
  controllerOf,
  describedBothWays,
  documentOf,
  ownSchemasOf,
  resolved,
  warningsAmong,
  warningsOf,
  type Wordless,
} from "./described.ts";

/** The descriptions of a schema: its input, its output unless it is the same, and components. */
interface ValibotRow {
  readonly schema: AnySchema;
  readonly input: JsonSchema;
  readonly output?: JsonSchema;
  readonly components?: Readonly<Record<string, JsonSchema>>;
  readonly wordless?: Wordless;
}

const STRING = { type: "string" };
const NUMBER = { type: "number" };
const NULL = { type: "null" };
const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  ...required.length > 0 && { required },
});
const array = (items: JsonSchema) => ({ type: "array", items });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const FILE = { type: "string", format: "binary", contentMediaType: "application/octet-stream" };
const DATE_TIME = { type: "string", format: "date-time" };

const Cat = dto("Cat", v.object({ name: v.string() }));
const CAT = object({ name: STRING });
const Age = dto("Age", v.pipe(v.string(), v.toNumber(), v.minValue(0)));

interface Tree {
  readonly children: readonly Tree[];
}
const Tree: v.GenericSchema<Tree> = v.object({ children: v.array(v.lazy(() => Tree)) });
const NamedTree: v.GenericSchema<Tree> = dto(
  "NamedTree",
  v.object({ children: v.array(v.lazy(() => NamedTree)) }),
);

interface Bag {
  readonly bags: readonly Bag[];
  readonly set: ReadonlySet<string>;
}
const NamedBag: v.GenericSchema<Bag> = dto(
  "NamedBag",
  v.object({ bags: v.array(v.lazy(() => NamedBag)), set: v.set(v.string()) }),
);

const ROWS: Readonly<Record<string, ValibotRow>> = {
  // plain values
  "string": { schema: v.string(), input: STRING },
  "number": { schema: v.number(), input: NUMBER },
  "boolean": { schema: v.boolean(), input: { type: "boolean" } },
  "null": { schema: v.null(), input: NULL },
  "any": { schema: v.any(), input: {} },
  "unknown": { schema: v.unknown(), input: {} },
  "never": { schema: v.never(), input: { not: {} } },
  "literal": { schema: v.literal("a"), input: { const: "a" } },
  "literal true": { schema: v.literal(true), input: { const: true } },
  "picklist": { schema: v.picklist(["a", "b"]), input: { type: "string", enum: ["a", "b"] } },
  "picklist of numbers": { schema: v.picklist([1, 2]), input: { type: "number", enum: [1, 2] } },
  "picklist of both": {
    schema: v.picklist([1, "b"]),
    input: { type: ["string", "number"], enum: [1, "b"] },
  },
  "enum": { schema: v.enum({ A: "a", B: "b" }), input: { type: "string", enum: ["a", "b"] } },
  "keyof": {
    schema: v.keyof(v.object({ a: v.string(), b: v.string() })),
    input: { type: "string", enum: ["a", "b"] },
  },

  // actions
  "lengths": {
    schema: v.pipe(v.string(), v.minLength(2), v.maxLength(80)),
    input: { type: "string", minLength: 2, maxLength: 80 },
  },
  "code points, which are what JSON Schema counts": {
    schema: v.pipe(v.string(), v.minCodePoints(2), v.maxCodePoints(80)),
    input: { type: "string", minLength: 2, maxLength: 80 },
  },
  "code points within other lengths": {
    schema: v.pipe(
      v.string(),
      v.minLength(3),
      v.minCodePoints(2),
      v.maxCodePoints(9),
      v.maxCodePoints(80),
    ),
    input: { type: "string", minLength: 3, maxLength: 9 },
  },
  "a number of code points": {
    schema: v.pipe(v.string(), v.codePoints(3)),
    input: { type: "string", minLength: 3, maxLength: 3 },
  },
  "length": {
    schema: v.pipe(v.string(), v.length(3)),
    input: { type: "string", minLength: 3, maxLength: 3 },
  },
  "nonEmpty": { schema: v.pipe(v.string(), v.nonEmpty()), input: { type: "string", minLength: 1 } },
  "integer within a range": {
    schema: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)),
    input: { type: "integer", minimum: 1, maximum: 5 },
  },
  "range without its ends": {
    schema: v.pipe(v.number(), v.gtValue(0), v.ltValue(1), v.multipleOf(0.1)),
    input: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 },
  },
  "safeInteger": {
    schema: v.pipe(v.number(), v.safeInteger()),
    input: {
      type: "integer",
      minimum: Number.MIN_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
    },
  },
  "notValue": {
    schema: v.pipe(v.number(), v.notValue(0)),
    input: { type: "number", not: { const: 0 } },
  },
  "values": {
    schema: v.pipe(v.string(), v.values(["a", "b"])),
    input: { type: "string", enum: ["a", "b"] },
  },
  "email": { schema: v.pipe(v.string(), v.email()), input: { type: "string", format: "email" } },
  "url": { schema: v.pipe(v.string(), v.url()), input: { type: "string", format: "uri" } },
  "uuid": { schema: v.pipe(v.string(), v.uuid()), input: { type: "string", format: "uuid" } },
  "ipv4": { schema: v.pipe(v.string(), v.ipv4()), input: { type: "string", format: "ipv4" } },
  "ipv6": { schema: v.pipe(v.string(), v.ipv6()), input: { type: "string", format: "ipv6" } },
  "isoDate": { schema: v.pipe(v.string(), v.isoDate()), input: { type: "string", format: "date" } },
  "isoTimestamp": {
    schema: v.pipe(v.string(), v.isoTimestamp()),
    input: { type: "string", format: "date-time" },
  },
  // the formats "time" and "date-time" are those of RFC 3339 §5.6, with seconds and an offset
  "isoTime, which is hours and minutes, not RFC 3339's": {
    schema: v.pipe(v.string(), v.isoTime()),
    input: { type: "string", pattern: v.ISO_TIME_REGEX.source },
  },
  "isoDateTime, which has neither seconds nor an offset": {
    schema: v.pipe(v.string(), v.isoDateTime()),
    input: { type: "string", pattern: v.ISO_DATE_TIME_REGEX.source },
  },
  "isoTimeSecond": {
    schema: v.pipe(v.string(), v.isoTimeSecond()),
    input: { type: "string", pattern: v.ISO_TIME_SECOND_REGEX.source },
  },
  "base64": {
    schema: v.pipe(v.string(), v.base64()),
    input: { type: "string", contentEncoding: "base64" },
  },
  "startsWith": {
    schema: v.pipe(v.string(), v.startsWith("a.b")),
    input: { type: "string", pattern: "^a\\.b" },
  },
  "endsWith": {
    schema: v.pipe(v.string(), v.endsWith("?")),
    input: { type: "string", pattern: "\\?$" },
  },
  "ulid": {
    schema: v.pipe(v.string(), v.ulid()),
    input: { type: "string", pattern: v.ULID_REGEX.source },
  },
  "checks that JSON Schema cannot represent": {
    schema: v.pipe(v.string(), v.check((s) => s !== "x"), v.maxBytes(9), v.rawCheck(() => {})),
    input: STRING,
  },
  "brand, readonly and flavor": {
    schema: v.pipe(v.string(), v.brand("Name"), v.readonly(), v.flavor("Word")),
    input: STRING,
  },
  "title, description and examples": {
    schema: v.pipe(v.string(), v.title("Name"), v.description("Of a cat"), v.examples(["Tom"])),
    input: { type: "string", title: "Name", description: "Of a cat", examples: ["Tom"] },
  },
  "metadata": {
    schema: v.pipe(
      v.number(),
      v.metadata({ title: "Age", description: "In years", examples: [3], deprecated: true }),
    ),
    input: {
      type: "number",
      title: "Age",
      description: "In years",
      examples: [3],
      deprecated: true,
    },
  },

  "metadata of the application, which is not in documents": {
    schema: v.pipe(v.string(), v.metadata({ column: "name", ref: 1, title: "Name", "x-order": 1 })),
    input: { type: "string", title: "Name", "x-order": 1 },
  },

  // patterns
  "regex": {
    schema: v.pipe(v.string(), v.regex(/^[a-z]+$/)),
    input: { type: "string", pattern: "^[a-z]+$" },
  },
  "regex with the flag u": {
    schema: v.pipe(v.string(), v.regex(/^\p{L}+$/u)),
    input: { type: "string", pattern: "^\\p{L}+$" },
  },
  "regex with flags that change nothing": {
    schema: v.pipe(v.string(), v.regex(/^a$/dgy)),
    input: { type: "string", pattern: "^a$" },
  },
  "regex with the flag i, which a pattern cannot have": {
    schema: v.pipe(v.string(), v.regex(/^[a-f]+$/i), v.maxLength(9)),
    input: { type: "string", maxLength: 9 },
  },
  "regex with the flags m and s, which a pattern cannot have": {
    schema: v.object({
      m: v.pipe(v.string(), v.regex(/^a$/m)),
      s: v.pipe(v.string(), v.regex(/^a.b$/su)),
    }),
    input: object({ m: STRING, s: STRING }),
  },
  "regex that is invalid with the flag u": {
    schema: v.pipe(v.string(), v.regex(/^[\w-.]+\-$/)),
    input: STRING,
  },
  "regex that is valid only with the flag v": {
    schema: v.pipe(v.string(), v.regex(/^[\p{L}--[a-z]]$/v)),
    input: STRING,
  },
  "regex after another, of which one can be described": {
    schema: v.pipe(v.string(), v.regex(/^a/), v.regex(/b$/i)),
    input: { type: "string", pattern: "^a" },
  },

  // objects
  "object": {
    schema: v.object({ a: v.string(), b: v.optional(v.number()), c: v.nullish(v.string()) }),
    input: object({ a: STRING, b: NUMBER, c: { anyOf: [STRING, NULL] } }, ["a"]),
  },
  "object without a required property": {
    schema: v.object({ a: v.exactOptional(v.string()) }),
    input: object({ a: STRING }, []),
  },
  "strictObject": {
    schema: v.strictObject({ a: v.string() }),
    input: { ...object({ a: STRING }), additionalProperties: false },
  },
  "looseObject, which keeps undeclared keys": {
    schema: v.looseObject({ a: v.string() }),
    input: { ...object({ a: STRING }), additionalProperties: {} },
  },
  "objectWithRest": {
    schema: v.objectWithRest({ a: v.string() }, v.number()),
    input: { ...object({ a: STRING }), additionalProperties: NUMBER },
  },
  "partial, pick and omit": {
    schema: v.object({
      partial: v.partial(Cat),
      pick: v.pick(Cat, ["name"]),
      omit: v.omit(Cat, ["name"]),
    }),
    input: object({ partial: object({ name: STRING }, []), pick: CAT, omit: object({}) }),
  },
  "required": {
    schema: v.required(v.object({ a: v.optional(v.string()), b: v.number() })),
    input: object({ a: STRING, b: NUMBER }),
  },
  "nonOptional, nonNullable and nonNullish": {
    schema: v.object({
      a: v.nonOptional(v.optional(v.string())),
      b: v.nonNullable(v.nullable(v.string())),
      c: v.nonNullish(v.nullish(v.string())),
      d: v.nonNullish(v.optional(v.nullable(v.string()))),
      e: v.nonOptional(v.optional(Cat)),
    }),
    input: object({ a: STRING, b: STRING, c: STRING, d: STRING, e: ref("Cat") }),
    components: { Cat: CAT },
  },
  "nonNullable of what takes null among others": {
    schema: v.nonNullable(v.union([v.string(), v.null()])),
    input: { allOf: [{ anyOf: [STRING, NULL] }], not: NULL },
  },
  "undefinedable, which JSON has no word for": {
    schema: v.object({ a: v.undefinedable(v.string()) }),
    input: object({ a: STRING }),
    output: object({ a: STRING }, []),
  },
  "record": {
    schema: v.record(v.string(), v.number()),
    input: { type: "object", propertyNames: STRING, additionalProperties: NUMBER },
  },
  "record of keys of a kind": {
    schema: v.pipe(v.record(v.pipe(v.string(), v.maxLength(2)), v.number()), v.minEntries(1)),
    input: {
      type: "object",
      propertyNames: { type: "string", maxLength: 2 },
      additionalProperties: NUMBER,
      minProperties: 1,
    },
  },
  "record of listed keys": {
    schema: v.record(v.picklist(["a", "b"]), v.number()),
    input: {
      type: "object",
      propertyNames: { type: "string", enum: ["a", "b"] },
      additionalProperties: NUMBER,
    },
  },

  // defaults
  "default": {
    schema: v.object({ a: v.optional(v.number(), 3) }),
    input: object({ a: { type: "number", default: 3 } }, []),
    output: object({ a: { type: "number", default: 3 } }),
  },
  "defaults of every kind, of which each property is required once": {
    schema: v.object({
      optional: v.optional(v.number(), 3),
      exact: v.exactOptional(v.number(), 3),
      nullish: v.nullish(v.number(), null),
      nullable: v.nullable(v.number(), 1),
      piped: v.pipe(v.optional(v.string(), "1"), v.toNumber()),
      none: v.optional(v.number(), undefined),
    }),
    input: object({
      optional: { type: "number", default: 3 },
      exact: { type: "number", default: 3 },
      nullish: { anyOf: [NUMBER, NULL], default: null },
      nullable: { anyOf: [NUMBER, NULL], default: 1 },
      piped: { type: "string", default: "1" },
      none: NUMBER,
    }, ["nullable"]),
    output: object({
      optional: { type: "number", default: 3 },
      exact: { type: "number", default: 3 },
      nullish: { anyOf: [NUMBER, NULL], default: null },
      nullable: { anyOf: [NUMBER, NULL], default: 1 },
      piped: NUMBER,
      none: NUMBER,
    }, ["optional", "exact", "nullish", "nullable", "piped"]),
  },
  "computed default, which is another one each time": {
    schema: v.object({ id: v.optional(v.string(), () => crypto.randomUUID()) }),
    input: object({ id: STRING }, []),
    output: object({ id: STRING }),
  },
  "default that JSON does not have": {
    schema: v.object({
      big: v.optional(v.bigint(), 1n),
      nan: v.optional(v.number(), NaN),
      infinite: v.optional(v.number(), Infinity),
    }),
    input: object({ big: {}, nan: NUMBER, infinite: NUMBER }, []),
    output: object({ big: {}, nan: NUMBER, infinite: NUMBER }),
    wordless: { taken: ["bigint"], given: ["bigint"] },
  },
  "named, with a default and an example that JSON does not have": {
    schema: dto(
      "Anything",
      v.object({ a: v.optional(v.any(), 1n), b: v.pipe(v.any(), v.examples([1n])) }),
    ),
    input: ref("AnythingInput"),
    output: ref("Anything"),
    components: {
      Anything: object({ a: {}, b: {} }),
      AnythingInput: object({ a: {}, b: {} }, ["b"]),
    },
  },
  "default that is a date is what JSON has for it": {
    schema: v.object({ at: v.optional(v.date(), new Date(0)) }),
    input: object({ at: { default: "1970-01-01T00:00:00.000Z" } }, []),
    output: object({
      at: { type: "string", format: "date-time", default: "1970-01-01T00:00:00.000Z" },
    }),
    wordless: { taken: ["date"] },
  },
  "default of an object": {
    schema: v.object({ cat: v.optional(Cat, { name: "Tom" }) }),
    input: object({ cat: { ...ref("Cat"), default: { name: "Tom" } } }, []),
    output: object({ cat: { ...ref("Cat"), default: { name: "Tom" } } }),
    components: { Cat: CAT },
  },

  // lists
  "array": {
    schema: v.pipe(v.array(v.string()), v.nonEmpty(), v.maxLength(3)),
    input: { ...array(STRING), minItems: 1, maxItems: 3 },
  },
  "tuple": {
    schema: v.tuple([v.string(), v.number()]),
    input: { type: "array", prefixItems: [STRING, NUMBER], minItems: 2 },
  },
  "strictTuple": {
    schema: v.strictTuple([v.string()]),
    input: { type: "array", prefixItems: [STRING], minItems: 1, items: false },
  },
  "tupleWithRest": {
    schema: v.tupleWithRest([v.string()], v.number()),
    input: { type: "array", prefixItems: [STRING], minItems: 1, items: NUMBER },
  },

  // combinations
  "nullable": { schema: v.nullable(v.string()), input: { anyOf: [STRING, NULL] } },
  "union": { schema: v.union([v.string(), v.number()]), input: { anyOf: [STRING, NUMBER] } },
  "intersect": {
    schema: v.intersect([v.object({ a: v.string() }), v.object({ b: v.number() })]),
    input: { allOf: [object({ a: STRING }), object({ b: NUMBER })] },
  },
  "variant": {
    schema: v.variant("type", [
      v.object({ type: v.literal("cat"), name: v.string() }),
      v.object({ type: v.literal("dog"), age: v.number() }),
    ]),
    input: {
      oneOf: [
        object({ type: { const: "cat" }, name: STRING }),
        object({ type: { const: "dog" }, age: NUMBER }),
      ],
    },
  },
  "union and intersection of nothing": {
    schema: v.object({ a: v.union([]), b: v.intersect([]) }),
    input: object({ a: { not: {} }, b: {} }),
  },
  "variant of named schemas": {
    schema: v.variant("type", [
      dto("TypeA", v.object({ type: v.literal("a") })),
      dto("TypeB", v.object({ type: v.literal("b") })),
    ]),
    input: { oneOf: [ref("TypeA"), ref("TypeB")] },
    components: {
      TypeA: object({ type: { const: "a" } }),
      TypeB: object({ type: { const: "b" } }),
    },
  },
  "lazy": { schema: v.lazy(() => v.array(v.string())), input: array(STRING) },
  "lazy that contains itself": {
    schema: v.pick(v.object({ tree: v.lazy(() => NamedTree) }), ["tree"]),
    input: object({ tree: ref("NamedTree") }),
    components: { NamedTree: object({ children: array(ref("NamedTree")) }) },
  },

  // transformations
  "toNumber": {
    schema: v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(1)),
    input: STRING,
    output: { type: "integer", minimum: 1 },
  },
  "toBoolean, toString, toDate, toBigint": {
    schema: v.object({
      boolean: v.pipe(v.string(), v.toBoolean()),
      string: v.pipe(v.number(), v.toString()),
      date: v.pipe(v.string(), v.isoTimestamp(), v.toDate()),
      bigint: v.pipe(v.number(), v.toBigint()),
    }),
    input: object({
      boolean: STRING,
      string: NUMBER,
      date: { type: "string", format: "date-time" },
      bigint: NUMBER,
    }),
    output: object({
      boolean: { type: "boolean" },
      string: STRING,
      date: { type: "string", format: "date-time" },
      bigint: {},
    }),
    wordless: { given: ["transform"] },
  },
  "transform(Number), with actions after it": {
    schema: v.pipe(v.string(), v.digits(), v.transform(Number), v.maxValue(9), v.description("D")),
    input: { type: "string", pattern: v.DIGITS_REGEX.source },
    output: { type: "number", maximum: 9, description: "D" },
  },
  "transform(String) and transform(Boolean)": {
    schema: v.object({
      s: v.pipe(v.number(), v.transform(String)),
      b: v.pipe(v.unknown(), v.transform(Boolean)),
    }),
    input: object({ s: NUMBER, b: {} }),
    output: object({ s: STRING, b: { type: "boolean" } }),
  },
  "transform of the application, whose output is unknown": {
    schema: v.pipe(v.string(), v.minLength(2), v.transform((text) => text.length), v.minValue(2)),
    input: { type: "string", minLength: 2 },
    output: {},
    wordless: { given: ["transform"] },
  },
  "transform with a schema after it": {
    schema: v.pipe(v.string(), v.transform((text) => text.length), v.number(), v.integer()),
    input: STRING,
    output: { type: "integer" },
  },
  "transform to a date": {
    schema: v.pipe(v.string(), v.isoDate(), v.transform((text) => new Date(text)), v.date()),
    input: { type: "string", format: "date" },
    output: { type: "string", format: "date-time" },
  },
  "parseJson and stringifyJson": {
    schema: v.object({
      parsed: v.pipe(v.string(), v.parseJson(), v.object({ a: v.number() })),
      unknown: v.pipe(v.string(), v.parseJson()),
      written: v.pipe(v.object({ a: v.number() }), v.stringifyJson()),
    }),
    input: object({ parsed: STRING, unknown: STRING, written: object({ a: NUMBER }) }),
    output: object({ parsed: object({ a: NUMBER }), unknown: {}, written: STRING }),
    wordless: { given: ["transform"] },
  },
  "rawTransform": {
    schema: v.pipe(v.string(), v.rawTransform(() => 5)),
    input: STRING,
    output: {},
    wordless: { given: ["transform"] },
  },
  "mapItems, which makes items of another kind": {
    schema: v.pipe(v.array(v.string()), v.mapItems((text) => text.length)),
    input: array(STRING),
    output: { type: "array" },
  },
  "filterItems and sortItems, which do not": {
    schema: v.pipe(v.array(v.string()), v.filterItems((text) => text !== ""), v.sortItems()),
    input: array(STRING),
  },
  "findItem and reduceItems": {
    schema: v.object({
      found: v.pipe(v.array(v.string()), v.findItem((text) => text !== "")),
      reduced: v.pipe(v.array(v.string()), v.reduceItems((sum) => sum + 1, 0)),
    }),
    input: object({ found: array(STRING), reduced: array(STRING) }),
    output: object({ found: {}, reduced: {} }),
    wordless: { given: ["transform"] },
  },
  "trim": {
    schema: v.pipe(v.string(), v.trim(), v.minLength(1)),
    input: { ...STRING, minLength: 1 },
  },
  "transform of an object": {
    schema: v.pipe(v.object({ a: v.string() }), v.transform(({ a }) => a)),
    input: object({ a: STRING }),
    output: {},
    wordless: { given: ["transform"] },
  },
  "transform within an object, an array, a union and a record": {
    schema: v.object({
      o: v.object({ n: v.pipe(v.string(), v.toNumber()) }),
      a: v.array(v.pipe(v.string(), v.toNumber())),
      u: v.union([v.pipe(v.string(), v.toNumber()), v.null()]),
      r: v.record(v.string(), v.pipe(v.string(), v.toNumber())),
    }),
    input: object({
      o: object({ n: STRING }),
      a: array(STRING),
      u: { anyOf: [STRING, NULL] },
      r: { type: "object", propertyNames: STRING, additionalProperties: STRING },
    }),
    output: object({
      o: object({ n: NUMBER }),
      a: array(NUMBER),
      u: { anyOf: [NUMBER, NULL] },
      r: { type: "object", propertyNames: STRING, additionalProperties: NUMBER },
    }),
  },

  // names
  "named": { schema: Cat, input: ref("Cat"), components: { Cat: CAT } },
  "named, nested": {
    schema: v.object({ cats: v.array(Cat), best: v.optional(Cat), other: v.nullable(Cat) }),
    input: object({
      cats: array(ref("Cat")),
      best: ref("Cat"),
      other: { anyOf: [ref("Cat"), NULL] },
    }, ["cats", "other"]),
    components: { Cat: CAT },
  },
  "named, and piped on": {
    schema: v.pipe(Cat, v.check(({ name }) => name !== ""), v.description("A cat with a name")),
    input: { ...CAT, description: "A cat with a name" },
  },
  "named, being a pipe": {
    schema: v.object({ age: Age }),
    input: object({ age: ref("AgeInput") }),
    output: object({ age: ref("Age") }),
    components: { Age: { type: "number", minimum: 0 }, AgeInput: STRING },
  },
  "named at the end of a pipe": {
    schema: v.object({ cat: v.pipe(v.string(), v.parseJson(), Cat) }),
    input: object({ cat: STRING }),
    output: object({ cat: CAT }),
  },
  "named, with its own description": {
    schema: v.array(dto("Word", v.pipe(v.string(), v.description("A word")))),
    input: array(ref("Word")),
    components: { Word: { type: "string", description: "A word" } },
  },
  "named, holding itself": {
    schema: NamedTree,
    input: ref("NamedTree"),
    components: { NamedTree: object({ children: array(ref("NamedTree")) }) },
  },

  // asynchronous schemas
  "asynchronous": {
    schema: v.objectAsync({
      name: v.pipeAsync(v.string(), v.minLength(2), v.checkAsync(() => Promise.resolve(true))),
      cats: v.arrayAsync(v.optionalAsync(Cat, () => Promise.resolve({ name: "Tom" }))),
    }),
    input: object({ name: { type: "string", minLength: 2 }, cats: array(ref("Cat")) }),
    components: { Cat: CAT },
  },
  "asynchronous transform": {
    schema: v.pipeAsync(v.string(), v.transformAsync((text) => Promise.resolve(text.length))),
    input: STRING,
    output: {},
    wordless: { given: ["transform"] },
  },

  // what JSON Schema cannot represent
  "date": { schema: v.date(), input: {}, output: DATE_TIME, wordless: { taken: ["date"] } },
  ...Object.fromEntries(
    [
      v.bigint(),
      v.custom<string>(() => true),
      v.function(),
      v.instance(URL),
      v.literal(1n),
      v.map(v.string(), v.number()),
      v.nan(),
      v.promise(),
      v.set(v.string()),
      v.symbol(),
      v.undefined(),
      v.void(),
    ].map((schema) => [
      `${schema.type}, which is any`,
      { schema, input: {}, wordless: { taken: [schema.type], given: [schema.type] } },
    ]),
  ),
  "what JSON Schema cannot represent, each kind once, wherever it is": {
    schema: v.object({
      sets: v.array(v.set(v.string())),
      maybe: v.optional(v.set(v.number())),
      either: v.union([v.string(), v.map(v.string(), v.string())]),
      described: v.pipe(v.symbol(), v.description("A sign")),
      within: dto("Within", v.object({ big: v.bigint(), set: v.set(v.string()) })),
    }),
    input: object({
      sets: array({}),
      maybe: {},
      either: { anyOf: [STRING, {}] },
      described: { description: "A sign" },
      within: ref("Within"),
    }, ["sets", "either", "described", "within"]),
    components: { Within: object({ big: {}, set: {} }) },
    wordless: {
      taken: ["set", "map", "symbol", "bigint"],
      given: ["set", "map", "symbol", "bigint"],
    },
  },
  "what JSON Schema cannot represent, in a schema that contains itself": {
    schema: NamedBag,
    input: ref("NamedBag"),
    components: { NamedBag: object({ bags: array(ref("NamedBag")), set: {} }) },
    wordless: { taken: ["set"], given: ["set"] },
  },
  // `format` is for Swagger UI; OpenAPI 3.1.1 §4.8.14.4 has the media type alone
  "file": {
    schema: v.object({ file: v.pipe(v.file(), v.mimeType(["image/png"]), v.maxSize(1024)) }),
    input: object({ file: FILE }),
  },
  "blob": { schema: v.object({ blobs: v.array(v.blob()) }), input: object({ blobs: array(FILE) }) },
};

for (const [what, row] of Object.entries(ROWS)) {
  const { schema, input, output = input, components = {}, wordless = {} } = row;
  test(`OpenAPI table: schemas of valibot: ${what}`, async () => {
    const { document: _whole, ...described } = await describedBothWays(schema);
    const warnings = warningsOf(schema, wordless);
    assert.deepEqual(described, { input, output, components, warnings });
  });
}

test("OpenAPI table: schemas of valibot: what a route's response makes of a value by itself is warned of, and what text becomes is not", async () => {
  const Length = v.pipe(v.string(), v.transform((text) => text.length));
  const controller = controllerOf({
    y: route.get("/y", { response: v.object({ length: Length }) }, () => ({ length: "a" })),
    z: route.get(
      "/z/:a",
      { params: v.object({ a: Length }), query: v.object({ b: Length }) },
      () => 1,
    ),
    set: route.get("/set", { response: v.set(v.string()) }, () => new Set<string>()),
  });
  await captureLogs(["fw", "openapi"], async (records) => {
    const app = await applicationOf(controller);
    await app.openApi();
    assert.deepEqual(warningsAmong(records), [], "openApi() only gives the document");
    await app.ready();
    await app.ready();
    assert.equal((await app.request("/openapi.json")).status, 200);
    assert.deepEqual(warningsAmong(records).toSorted(), [
      'The response of GET /set: JSON Schema cannot represent "set" of valibot, ' +
      'so it is described as "any"',
      'The response of GET /y: JSON Schema cannot represent "transform" of valibot, ' +
      'so it is described as "any"',
    ]);
  });
});

const thrower = v.object({
  a: v.optional(v.string(), () => {
    throw new Error("no default today");
  }),
});

test("OpenAPI table: schemas of valibot: one that cannot be converted leaves the others as they are", async () => {
  const document = await documentOf(controllerOf({
    throwing: route.post("/throwing", { body: thrower }, () => 1),
    cat: route.post("/cat", { body: Cat }, () => 1),
    cats: route.post("/cats", { body: v.array(Cat) }, () => 1),
  }));
  const taken = (path: string) =>
    document.paths[path]?.post?.requestBody?.content["application/json"]?.schema;
  assert.deepEqual(taken("/throwing"), {});
  assert.deepEqual(taken("/cat"), ref("Cat"));
  assert.deepEqual(taken("/cats"), array(ref("Cat")));
  assert.deepEqual(document.components?.schemas?.Cat, CAT);
});

test("OpenAPI table: schemas of valibot: one that is lazy and asynchronous is described as any, and warned of", async () => {
  const schema = v.objectAsync({ later: v.lazyAsync(() => Promise.resolve(v.string())) });
  const { input, output, warnings } = await describedBothWays(schema);
  assert.deepEqual([input, output], [object({ later: {} }), object({ later: {} })]);
  assert.deepEqual(warnings, warningsOf(schema, { taken: ["lazy"], given: ["lazy"] }));
});

test("OpenAPI table: schemas of valibot: one that cannot be converted affects no others that contain themselves", async () => {
  interface Chain {
    readonly next: Chain | null;
  }
  const Chain: v.GenericSchema<Chain> = v.object({ next: v.nullable(v.lazy(() => Chain)) });
  const document = await documentOf(controllerOf({
    throwing: route.post("/throwing", { body: thrower }, () => 1),
    tree: route.post("/tree", { body: v.object({ of: v.lazy(() => Tree) }) }, () => 1),
    chain: route.post("/chain", { body: v.object({ of: v.lazy(() => Chain) }) }, () => 1),
  }));
  const propertiesAt = (path: string) => {
    const taken = document.paths[path]?.post?.requestBody?.content["application/json"]?.schema;
    const { of } = taken?.properties as Record<string, JsonSchema>;
    return resolved(of, document)?.properties as Record<string, JsonSchema>;
  };
  assert.deepEqual(Object.keys(propertiesAt("/tree")), ["children"]);
  assert.deepEqual(Object.keys(propertiesAt("/chain")), ["next"]);
});

test("OpenAPI table: schemas of valibot: one without a name that contains itself is one component, however often it is used", async () => {
  const routes = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [
      `take${i}`,
      route.post(`/${i}`, { body: v.object({ tree: Tree, cat: Cat }) }, () => 1),
    ]),
  );
  assert.deepEqual(ownSchemasOf(await documentOf(controllerOf(routes))), {
    Cat: CAT,
    Schema1: object({ children: array(ref("Schema1")) }),
  });
});
