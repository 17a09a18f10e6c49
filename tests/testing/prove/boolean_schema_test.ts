/** Schemas that are `true` or `false` in other words, and what requests and answers make of them. */
import fc from "fast-check";
import assert from "node:assert/strict";
import type { JsonSchema } from "../../../src/openapi/json_schema/json_schema.ts";
import { asBoolean } from "../../../src/testing/prove/boolean_schema.ts";
import { valueOf } from "../../../src/testing/prove/request/arbitrary_value.ts";
import { violationOf } from "../../../src/testing/prove/request/arbitrary_violation.ts";
import { undocumentedProperty } from "../../../src/testing/prove/request/plain_schema.ts";
import { test } from "../../support/test.ts";

const TEXT = { type: "string" };

const COMPONENTS: Readonly<Record<string, JsonSchema>> = {
  Any: { description: "Anything" },
  Nothing: { not: { $ref: "Any" } },
  Circle: { allOf: [{ $ref: "Circle" }] },
};

const resolve = (reference: string): JsonSchema => COMPONENTS[reference]!;

test("asBoolean() recognizes schemas that allow anything or nothing", () => {
  const rows: readonly (readonly [unknown, boolean | undefined])[] = [
    [true, true],
    [false, false],
    [{}, true],
    [{ title: "A", "x-note": 1, default: 1 }, true],
    [{ not: {} }, false],
    [{ not: true }, false],
    [{ not: { not: {} } }, true],
    [{ not: TEXT }, undefined],
    [{ $ref: "Any" }, true],
    [{ $ref: "Nothing" }, false],
    [{ $ref: "Circle" }, undefined],
    [{ allOf: [{}] }, true],
    [{ anyOf: [{ not: {} }] }, false],
    [{ anyOf: [TEXT, {}] }, undefined],
    [{ ...TEXT, not: {} }, false],
    [TEXT, undefined],
    [undefined, undefined],
  ];
  for (const [schema, expected] of rows) {
    assert.equal(asBoolean(schema, resolve), expected, JSON.stringify(schema));
  }
});

test("undocumentedProperty() finds one of an object that is closed by not", () => {
  const document = { resolve, cached: (_: unknown, make: () => readonly JsonSchema[]) => make() };
  const find = (additionalProperties: unknown) => {
    const schema = { type: "object", properties: { a: TEXT }, additionalProperties };
    return undocumentedProperty({ a: "", b: 1 }, schema, document);
  };
  assert.deepEqual([false, { not: {} }, { $ref: "Nothing" }].map(find), ["b", "b", "b"]);
  assert.deepEqual([true, {}, { $ref: "Any" }].map(find), [undefined, undefined, undefined]);
});

test("valueOf() makes objects and lists without what no value satisfies", () => {
  for (const nothing of [false, { not: {} }, { $ref: "Nothing" }]) {
    const object = { type: "object", properties: { a: TEXT, b: nothing }, required: ["a"] };
    const schema = { ...object, additionalProperties: nothing };
    for (const value of fc.sample(valueOf(schema, { resolve }), { seed: 1, numRuns: 100 })) {
      assert.deepEqual(Object.keys(value as object), ["a"]);
    }
    const list = { type: "array", prefixItems: [TEXT], items: nothing };
    for (const value of fc.sample(valueOf(list, { resolve }), { seed: 1, numRuns: 100 })) {
      assert.equal((value as unknown[]).length, 1);
    }
  }
});

test("violationOf() adds a property to an object that is closed by not", () => {
  const schema = { type: "object", properties: {}, additionalProperties: { not: {} } };
  const values = fc.sample(violationOf(schema, { resolve })!, { seed: 1, numRuns: 300 });
  assert.ok(values.some((value) => Object.hasOwn(Object(value), "another")));
});
