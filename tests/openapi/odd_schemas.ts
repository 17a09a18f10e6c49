/**
 * Schemas that JSON Schema cannot represent, or few, or that libraries describe in odd ways.
 *
 * @module
 */
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { type AnySchema, dto } from "../../mod.ts";

/** A schema, and values that it takes and refuses; so has its description. */
export interface OddSchema {
  readonly name: string;
  readonly schema: AnySchema;
  readonly takes: readonly unknown[];
  readonly refuses: readonly unknown[];
}

type Row = readonly [schema: AnySchema, takes?: readonly unknown[], refuses?: readonly unknown[]];

class Thing {}

const VALIBOT: Readonly<Record<string, Row>> = {
  bigint: [v.bigint()],
  blob: [v.blob()],
  custom: [v.custom<string>((value) => value === "x"), ["x"]],
  date: [v.date()],
  file: [v.file()],
  function: [v.function()],
  instance: [v.instance(Thing)],
  map: [v.map(v.string(), v.number())],
  nan: [v.nan()],
  never: [v.never(), [], ["x", null]],
  promise: [v.promise()],
  set: [v.set(v.string())],
  symbol: [v.symbol()],
  undefined: [v.undefined()],
  void: [v.void()],
  any: [v.any(), ["x", null, { a: 1 }]],
  literalBigint: [v.literal(10n)],
  picklistMixed: [v.picklist(["a", 1]), ["a", 1], ["b", 2, null]],
  picklistEmpty: [v.picklist([]), [], ["a", 1]],
  enum: [v.enum({ A: 0, B: "b" }), [0, "b"], ["A", 1]],
  tupleEmpty: [v.tuple([]), [[]], [{}]],
  tupleStrict: [v.strictTuple([v.string()]), [["a"]], [[], ["a", 1], [1]]],
  tupleLoose: [v.looseTuple([v.string()]), [["a"], ["a", 1]], [[], [1]]],
  recordOfPicklist: [v.record(v.picklist(["a", "b"]), v.number()), [{ a: 1, b: 2 }], [{ a: "1" }]],
  objectEmpty: [v.object({}), [{}, { a: 1 }], [1]],
  objectStrictEmpty: [v.strictObject({}), [{}], [{ a: 1 }]],
  unionEmpty: [v.union([]), [], ["a"]],
  unionOfOne: [v.union([v.string()]), ["a"], [1]],
  intersection: [v.intersect([v.string(), v.pipe(v.string(), v.minLength(2))]), ["ab"], ["a", 1]],
  nonOptional: [v.nonOptional(v.optional(v.string())), ["a"], [1, null]],
  nonNullable: [v.nonNullable(v.nullable(v.string())), ["a"], [1, null]],
  nonNullish: [v.nonNullish(v.nullish(v.string())), ["a"], [1, null]],
  required: [v.required(v.object({ a: v.optional(v.string()) })), [{ a: "b" }], [{}, { a: 1 }]],
  partial: [v.partial(v.object({ a: v.string() })), [{}, { a: "b" }], [{ a: 1 }]],
  exactOptional: [v.object({ a: v.exactOptional(v.string()) }), [{}, { a: "b" }], [{ a: 1 }]],
  undefinedable: [v.object({ a: v.undefinedable(v.string()) }), [{ a: "b" }], [{ a: 1 }]],
  neverThere: [v.object({ a: v.optional(v.never()) }), [{}], [{ a: 1 }]],
  fallback: [v.fallback(v.string(), "x"), ["a"]],
  defaultDate: [v.object({ a: v.optional(v.date(), new Date(0)) }), [{}]],
  defaultBigint: [v.object({ a: v.optional(v.bigint(), 1n) })],
  defaultNull: [v.object({ a: v.optional(v.nullable(v.string()), null) }), [{}, { a: null }]],
  contradictory: [v.pipe(v.string(), v.minLength(5), v.maxLength(2)), [], ["abc"]],
  affixes: [v.pipe(v.string(), v.startsWith("a"), v.endsWith("b")), ["ab"], ["b"]],
  infinity: [v.pipe(v.number(), v.maxValue(Infinity)), [1]],
  ranges: [v.pipe(v.number(), v.gtValue(3), v.minValue(1)), [4], [3]],
  entries: [v.pipe(v.record(v.string(), v.string()), v.maxEntries(1)), [{ a: "b" }], [{ a: 1 }]],
  includesItem: [v.pipe(v.array(v.string()), v.includes("x")), [["x"]], [[1]]],
  parseJson: [v.pipe(v.string(), v.parseJson(), v.object({ a: v.number() })), ['{"a":1}'], [{}]],
  regexAnyCase: [v.pipe(v.string(), v.regex(/^a$/i)), ["a", "A"], [1]],
  regexUnicode: [v.pipe(v.string(), v.regex(/^\p{Lu}$/u)), ["\u00c4"], ["\u00e4"]],
  metadata: [
    v.pipe(v.string(), v.title("T"), v.metadata({ widget: "textarea", deprecated: true })),
    ["a"],
    [1],
  ],
  keywordsAsNames: [
    v.object({ schema: v.string(), properties: v.object({ items: v.string() }), "a/b~c": v.any() }),
    [{ schema: "a", properties: { items: "b" }, "a/b~c": 1 }],
    [{ schema: "a", properties: { items: 1 }, "a/b~c": 1 }],
  ],
  lazy: [v.lazy(() => v.object({ a: v.string() })), [{ a: "b" }], [{}]],
};

const ZOD: Readonly<Record<string, Row>> = {
  bigint: [z.bigint()],
  catch: [z.string().catch("x"), ["a"]],
  custom: [z.custom<string>(), ["a"]],
  date: [z.date()],
  file: [z.file().min(1).max(10).mime(["image/png", "image/gif"])],
  map: [z.map(z.string(), z.number())],
  nan: [z.nan()],
  never: [z.never(), [], ["x", null]],
  promise: [z.promise(z.string())],
  set: [z.set(z.string())],
  symbol: [z.symbol()],
  undefined: [z.undefined()],
  void: [z.void()],
  any: [z.any(), ["x", null]],
  defaultBigint: [z.object({ a: z.bigint().default(1n) })],
  defaultDate: [z.object({ a: z.date().default(new Date(0)) }), [{}], ["a"]],
  enumMixed: [z.enum({ A: 1, B: "b" }), [1, "b"], ["A", 2]],
  instance: [z.instanceof(Thing)],
  lazy: [z.lazy(() => z.string()), ["a"], [1]],
  neverThere: [z.object({ a: z.never().optional() }), [{}], [{ a: 1 }]],
  nonOptional: [z.nonoptional(z.string().optional()), ["a"], [1]],
  partialRecord: [z.partialRecord(z.enum(["a", "b"]), z.number()), [{}, { a: 1 }], [{ c: 1 }]],
  prefault: [z.object({ a: z.string().trim().prefault("a") }), [{}, { a: " b " }], [{ a: 1 }]],
  preprocess: [z.preprocess((value) => value, z.string()), ["a"], [1]],
  readonly: [z.object({ a: z.array(z.number()).readonly() }), [{ a: [1] }], [{}]],
  regexAnyCase: [z.string().regex(/^a$/i), ["a", "A"], [1]],
  uint64: [z.uint64()],
  metadata: [z.string().meta({ title: "T", widget: "textarea", deprecated: true }), ["a"], [1]],
  keywordsAsNames: [z.object({ id: z.string(), type: z.string() }), [{ id: "a", type: "b" }], [{}]],
};

const ARKTYPE: Readonly<Record<string, Row>> = {
  bigint: [type("bigint")],
  date: [type("Date").describe("a day")], // arktype has one type for equal definitions
  dateRange: [type("Date > d'2020-01-01'")],
  defaultDate: [type({ a: type("Date").default(() => new Date(0)) }), [{}]],
  enumerated: [type.enumerated("a", 1, null), ["a", 1, null], ["b", 2]],
  file: [type("File")],
  formData: [type("FormData")],
  indexOfText: [type({ "[string]": "number" }), [{ a: 1 }], [{ a: "b" }]],
  indexOfSymbol: [type({ "[symbol]": "number", a: "string" }), [{ a: "b" }], [{ a: 1 }]],
  instance: [type.instanceOf(Thing)],
  narrowed: [type("string").narrow((text) => text === "a"), ["a"], [1]],
  never: [type("never"), [], ["a", null]],
  orUndefined: [type({ a: "string | undefined" }), [{ a: "b" }], [{}]],
  piped: [type("string").pipe((text) => text.length), ["a"], [1]],
  regexAnyCase: [type(/^a$/i), ["a", "A"], [1]],
  symbol: [type("symbol")],
  tupleEmpty: [type([]), [[]], [[1]]],
  undefined: [type("undefined")],
  unknown: [type("unknown"), ["a", null]],
};

/** All of them, each with a name as a dto has it. */
export const ODD_SCHEMAS: readonly OddSchema[] = [
  ...rows("valibot", VALIBOT),
  ...rows("zod", ZOD),
  ...rows("arktype", ARKTYPE),
];

function rows(library: string, table: Readonly<Record<string, Row>>): readonly OddSchema[] {
  return Object.entries(table).map(([key, [schema, takes = [], refuses = []]]) => {
    const name = `${library}.${key}`;
    return { name, schema: dto(name, schema), takes, refuses };
  });
}
