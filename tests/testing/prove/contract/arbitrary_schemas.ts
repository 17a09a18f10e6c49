/** Schemas at random, in pairs that are alike; values that they mostly allow; copies in other forms. */
import fc from "fast-check";
import type { JsonSchema } from "../../../../src/openapi/json_schema/json_schema.ts";

/** A schema, and one that it could have become. */
export type Pair = readonly [base: JsonSchema, current: JsonSchema];

const NAMES = ["a", "b", "c"] as const;
const SCALARS = [null, false, true, -1, 0, 1, 1.5, 2, 3, 4, "", "a", "b", "ab", "aab", "bb"];
const scalar = fc.constantFrom<unknown>(...SCALARS);
const limit = fc.integer({ min: 0, max: 3 });

/** Returns pairs of schemas that contain others down to a depth. */
export function pairs(depth = 2): fc.Arbitrary<Pair> {
  const leaf = fc.tuple(leaves(), leaves());
  const same = leaves().map((schema): Pair => [schema, schema]);
  if (depth === 0) return fc.oneof(same, leaf);
  const inner = pairs(depth - 1);
  return fc.oneof(
    { arbitrary: same, weight: 2 },
    { arbitrary: leaf, weight: 3 },
    { arbitrary: objects(inner), weight: 5 },
    { arbitrary: lists(inner), weight: 2 },
    { arbitrary: alternatives(inner), weight: 3 },
    { arbitrary: fc.tuple(inner, inner).map(([[a], [b]]): Pair => [a, b]), weight: 1 },
  );
}

/** Returns values that a schema mostly allows. */
export function valuesOf(schema: unknown): fc.Arbitrary<unknown> {
  if (typeof schema !== "object" || schema === null) return scalar;
  const { anyOf, oneOf, allOf, properties, required, additionalProperties, items, prefixItems } =
    schema as Readonly<Record<string, unknown>>;
  const { enum: listed, const: only } = schema as JsonSchema;
  const inner = [anyOf, oneOf, allOf].flatMap((list) => Array.isArray(list) ? list : []);
  const object = fc.record(
    {
      ...Object.fromEntries(
        Object.entries(properties ?? {}).map(([name, each]) => [name, valuesOf(each)]),
      ),
      d: valuesOf(additionalProperties),
    },
    { requiredKeys: (required ?? []) as "d"[] }, // names of its members, as pairs have no others
  );
  const first = (prefixItems as unknown[] ?? []).map(valuesOf);
  const list = fc.tuple(fc.tuple(...first), fc.array(valuesOf(items), { maxLength: 3 }))
    .map(([one, more]) => [...one, ...more]);
  const own = [
    ...properties || additionalProperties !== undefined ? [object] : [],
    ...items !== undefined || prefixItems ? [list] : [],
    ...Array.isArray(listed) ? [fc.constantFrom(...listed)] : [],
    ...only === undefined ? [] : [fc.constant(only)],
    ...inner.map(valuesOf),
  ];
  return fc.oneof(
    { arbitrary: fc.oneof(scalar, ...own), weight: 1 },
    ...own.map((arbitrary) => ({ arbitrary, weight: 4 })),
  );
}

/**
 * Returns a schema that means the same in another form: with its keywords in another order, parts as
 * references into `components`, and words for the same thing.
 */
export function disguised(
  schema: JsonSchema,
  { components, next }: {
    readonly components: Record<string, unknown>;
    /** Returns a whole number from 0 to 99. */
    readonly next: () => number;
  },
): JsonSchema {
  const again = (each: unknown): unknown =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? disguised(each as JsonSchema, { components, next })
      : each;
  const entries = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === "properties") {
      const members = Object.entries(Object(value)).map(([name, each]) => [name, again(each)]);
      return [keyword, Object.fromEntries(members.reverse())];
    }
    if (["anyOf", "oneOf", "allOf"].includes(keyword)) {
      return [keyword, (value as unknown[]).map(again).reverse()];
    }
    if (keyword === "prefixItems") return [keyword, (value as unknown[]).map(again)];
    if (keyword === "required" || keyword === "enum") {
      return [keyword, [...value as unknown[]].reverse()];
    }
    if (keyword === "const" && next() < 50) return ["enum", [value]];
    if (keyword === "type" && next() < 50) return [keyword, [value].flat()];
    return [
      keyword,
      ["items", "additionalProperties", "not"].includes(keyword) ? again(value) : value,
    ];
  });
  const copy = { description: "A copy", ...Object.fromEntries(entries.reverse()) };
  if (next() < 20) return { allOf: [copy] };
  if (next() < 20) return { anyOf: [copy] };
  if (next() < 70) return copy;
  const name = `Part${Object.keys(components).length}`;
  components[name] = copy;
  return { $ref: `#/components/schemas/${name}` };
}

function leaves(): fc.Arbitrary<JsonSchema> {
  const optional = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
    fc.record(model, { requiredKeys: [] });
  const numbers = optional({
    minimum: limit,
    maximum: limit,
    exclusiveMinimum: limit,
    multipleOf: fc.constantFrom(1, 2, 3),
  });
  const texts = optional({
    minLength: limit,
    maxLength: limit,
    pattern: fc.constantFrom("^a", "b$"),
  });
  const typed = (type: string | readonly string[]) => ({ type });
  return fc.oneof(
    fc.constantFrom<JsonSchema>(
      {},
      { not: {} },
      typed("null"),
      typed("boolean"),
      typed("object"),
      typed("array"),
    ),
    fc.tuple(fc.constantFrom("number", "integer"), numbers).map(([type, rest]) => ({
      type,
      ...rest,
    })),
    texts.map((rest) => ({ type: "string", ...rest })),
    fc.tuple(texts, numbers).map(([text, number]) => ({
      type: ["string", "integer", "null"],
      ...text,
      ...number,
    })),
    fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }).map((values) => ({ enum: values })),
    scalar.map((value) => ({ const: value })),
    fc.tuple(texts, fc.uniqueArray(scalar, { minLength: 1, maxLength: 2 }))
      .map(([text, values]) => ({ type: "string", ...text, not: { enum: values } })),
  );
}

function objects(inner: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> {
  const member = fc.tuple(
    inner,
    fc.constantFrom("both", "both", "both", "base", "current", "none"),
  );
  const members = fc.tuple(member, member, member);
  const required = fc.subarray([...NAMES]);
  const sides = fc.tuple(required, required, fc.boolean()).map(([one, other, isSame]) =>
    [one, isSame ? one : other] as const
  );
  const others = fc.oneof(
    { arbitrary: fc.constant<readonly unknown[]>([undefined, undefined]), weight: 4 },
    fc.constantFrom<readonly unknown[]>([false, false], [undefined, false], [false, true]),
    fc.constantFrom<readonly unknown[]>([{ not: {} }, false], [{}, { not: {} }], [{}, undefined]),
    inner,
  );
  return fc.tuple(members, sides, others).map(([members, sides, others]) => {
    const sideOf = (side: 0 | 1): JsonSchema => {
      const excluded = side === 0 ? "current" : "base";
      const own = members.map(([pair, where], i) => [NAMES[i], pair[side], where] as const)
        .filter(([, , where]) => where !== excluded && where !== "none");
      const names = sides[side].filter((name) => own.some(([each]) => each === name));
      return {
        type: "object",
        properties: Object.fromEntries(own.map(([name, schema]) => [name, schema])),
        ...names.length > 0 && { required: names },
        ...others[side] !== undefined && { additionalProperties: others[side] },
      };
    };
    return [sideOf(0), sideOf(1)];
  });
}

function lists(inner: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> {
  const limits = fc.record(
    { minItems: limit, maxItems: limit, uniqueItems: fc.boolean() },
    { requiredKeys: [] },
  );
  return fc.oneof(
    fc.tuple(inner, limits, limits).map(([[a, b], was, is]): Pair => [
      { type: "array", items: a, ...was },
      { type: "array", items: b, ...is },
    ]),
    fc.tuple(inner, inner, limits).map(([[a, b], [c, d], is]): Pair => [
      { type: "array", prefixItems: [a], items: c, ...is },
      { type: "array", prefixItems: [b, d], items: d, ...is },
    ]),
  );
}

function alternatives(inner: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> {
  const keyword = fc.constantFrom("anyOf", "anyOf", "oneOf", "allOf");
  return fc.tuple(keyword, keyword, fc.boolean(), inner, inner, fc.boolean()).map(
    ([was, other, isSame, [a, b], [c, d], isMore]): Pair => [
      { [was]: [a, c] },
      { [isSame ? was : other]: isMore ? [d, b, a] : [d, b] },
    ],
  );
}
