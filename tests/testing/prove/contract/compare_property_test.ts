/** What compared schemas say, beside what a validator of JSON Schema says of values. */
import { registerSchema, unregisterSchema, validate } from "@hyperjump/json-schema/draft-2020-12";
import fc from "fast-check";
import assert from "node:assert/strict";
import { compareDocuments } from "../../../../src/testing/prove/contract/compare_documents.ts";
import type { JsonSchema } from "../../../../src/openapi/json_schema/json_schema.ts";
import { IS_ALL, testOnce } from "../../../support/test.ts";
import { disguised, type Pair, pairs, valuesOf } from "./arbitrary_schemas.ts";
import { documentOf, receiving, sending } from "./documents.ts";

/** How many pairs are compared. */
const RUNS = IS_ALL ? 4_000 : 200;

/** How many values are checked of each. */
const VALUES = 12;

testOnce("a schema is compared with a copy of itself in another form without a change", () => {
  const form = fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 30, maxLength: 30 });
  fc.assert(
    fc.property(pairs(), form, ([schema], numbers) => {
      for (const bodyOf of [receiving, sending]) {
        let n = 0;
        const next = () => numbers[n++ % numbers.length]!;
        const schemas: Record<string, unknown> = {};
        const copy = disguised(schema, { components: schemas, next });
        const base = documentOf({ "POST /a": bodyOf(schema) });
        const current = documentOf({ "POST /a": bodyOf(copy) }, { components: { schemas } });
        assert.deepEqual(compareDocuments(base, base), []);
        assert.deepEqual(compareDocuments(base, current), [], JSON.stringify(copy));
        assert.deepEqual(compareDocuments(current, base), [], JSON.stringify(copy));
      }
    }),
    { numRuns: RUNS },
  );
});

/** Checks values against both schemas of a pair; returns the number of values that were valid. */
async function checkValues(
  direction: "input" | "output",
  [base, current]: Pair,
  values: readonly unknown[],
): Promise<number> {
  const bodyOf = direction === "input" ? receiving : sending;
  const changes = compareDocuments(
    documentOf({ "POST /a": bodyOf(base) }),
    documentOf({ "POST /a": bodyOf(current) }),
  );
  if (changes.some(({ isBreaking }) => isBreaking)) return 0;
  // clients send the members that they know
  const [from, to] = direction === "input" ? [closed(base), current] : [current, base];
  const [isSent, isAccepted] = [await validatorOf(from), await validatorOf(to)];
  const sent = values.filter(isSent);
  for (const value of sent) {
    assert.ok(isAccepted(value), `${JSON.stringify(value)} is ${direction} of one only`);
  }
  return sent.length;
}

for (const direction of ["input", "output"] as const) {
  const [from, to] = direction === "input" ? ["base", "current"] : ["current", "base"];
  testOnce(
    `schemas without a breaking change of ${direction}: what the ${from} one allows, the ${to} one does`,
    async () => {
      let valid = 0;
      const cases = pairs().chain((pair) =>
        fc.tuple(
          fc.constant(pair),
          fc.array(fc.oneof(valuesOf(pair[0]), valuesOf(pair[1])), {
            minLength: VALUES,
            maxLength: VALUES,
          }),
        )
      );
      await fc.assert(
        fc.asyncProperty(cases, async ([pair, values]) => {
          valid += await checkValues(direction, pair, values);
        }),
        { numRuns: RUNS },
      );
      assert.ok(valid > RUNS / 4, `${valid} values were valid`);
    },
  );
}

/** Returns a schema whose objects have only the members that it names. */
function closed(schema: JsonSchema, isPart = false): JsonSchema {
  const each = (value: unknown, isPart = false): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? closed(value as JsonSchema, isPart)
      : value;
  const { additionalProperties: others = true, ...named } = schema;
  const isOpen = others === true || JSON.stringify(others) === "{}"; // that any others are allowed
  const entries = Object.entries(isOpen ? named : schema).map(
    ([keyword, value]): [string, unknown] => {
      if (keyword === "properties") {
        const members = Object.entries(Object(value)).map(([name, one]) => [name, each(one)]);
        return [keyword, Object.fromEntries(members)];
      }
      if (["anyOf", "oneOf", "allOf"].includes(keyword)) {
        return [keyword, (value as unknown[]).map((one) => each(one, true))];
      }
      if (keyword === "prefixItems") return [keyword, (value as unknown[]).map((one) => each(one))];
      return [keyword, ["items", "additionalProperties"].includes(keyword) ? each(value) : value];
    },
  );
  return { ...Object.fromEntries(entries), ...!isPart && { unevaluatedProperties: false } };
}

async function validatorOf(schema: JsonSchema): Promise<(value: unknown) => boolean> {
  const uri = `https://schemas.example/${crypto.randomUUID()}`;
  const dialect = "https://json-schema.org/draft/2020-12/schema";
  registerSchema(schema as Parameters<typeof registerSchema>[0], uri, dialect);
  try {
    const check = await validate(uri);
    return (value) => check(value as Parameters<typeof check>[0]).valid;
  } finally {
    unregisterSchema(uri);
  }
}
