import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonSchema } from "../../../src/openapi/json_schema/json_schema.ts";
import { valueOf } from "../../../src/testing/prove/request/arbitrary_value.ts";
import { test } from "../../support/test.ts";

const context = { resolve: () => assert.fail() };

/** Returns values of a schema. */
function sampled(schema: JsonSchema): unknown[] {
  return fc.sample(valueOf(schema, context), { numRuns: 100, seed: 1 });
}

test("valueOf() makes properties whose names every object has", () => {
  const text = { type: "string", const: "x" };
  const properties = { constructor: text, toString: text, valueOf: text };
  const required = ["constructor", "toString", "hasOwnProperty"];
  const additionalProperties = { type: "string", const: "y" };
  const schema = { type: "object", properties, required, additionalProperties };
  for (const value of sampled(schema) as Record<string, unknown>[]) {
    const { constructor, toString, hasOwnProperty } = value;
    assert.deepEqual([constructor, toString, hasOwnProperty], ["x", "x", "y"]);
  }
});

test("valueOf() follows patterns of passwords, which look ahead and behind", () => {
  const patterns = [
    "^(?=.*[A-Z])(?=.*\\d).{8,40}$",
    "^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?!.* ).{8,}$",
    "^[a-z]+(?<!x)$",
  ];
  for (const pattern of patterns) {
    for (const value of sampled({ type: "string", pattern })) {
      assert.match(String(value), new RegExp(pattern, "u"));
    }
  }
});

test("valueOf() makes texts of numbers within their bounds", () => {
  const table = [
    { format: "int64" },
    { format: "int64", minimum: 2 ** 60 },
    { format: "int64", minimum: -3, maximum: 3 },
    { format: "decimal", minimum: 0.2, maximum: 0.8 },
    { format: "decimal", maximum: -1e16 },
  ];
  for (const schema of table) {
    const { minimum = -Infinity, maximum = Infinity } = schema as Record<string, unknown>;
    for (const value of sampled({ type: "string", ...schema })) {
      const number = Number(value);
      assert.ok(number >= Number(minimum) && number <= Number(maximum), `${value}`);
    }
  }
});

test("valueOf() makes texts of numbers of each length that their pattern takes", () => {
  const pattern = "^-?0*\\d{1,10}(?:\\.\\d{1,2}0*)?$"; // of a decimal column
  const bounds = [{}, { minimum: 0.01 }];
  for (const bound of bounds) {
    const values = sampled({ type: "string", format: "decimal", pattern, ...bound });
    assert.ok(values.filter((value) => Number(value) > 1e9).length > 0, values.join(" "));
    assert.ok(values.filter((value) => Math.abs(Number(value)) < 100).length > 0);
  }
});

test("valueOf() names a schema that no value satisfies", () => {
  const schemas = [
    { type: "string", format: "decimal", minimum: 2, maximum: 1 },
    { not: {} },
    { enum: [] },
    { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 1 },
    { type: "integer", minimum: 1, maximum: 6, multipleOf: 7 },
    { type: "number", minimum: 2, maximum: 1 },
    { type: "number", minimum: 0.1, maximum: 0.2, multipleOf: 1.5 },
    { type: "string", minLength: 10, maxLength: 3 },
  ];
  for (const schema of schemas) {
    assert.throws(() => sampled(schema), /^Error: Cannot generate \{"/, JSON.stringify(schema));
  }
});

test("valueOf() names a schema whose values would have no end", () => {
  const node: JsonSchema = {
    type: "object",
    properties: { next: { $ref: "Node" } },
    required: ["next"],
  };
  const values = () => fc.sample(valueOf({ $ref: "Node" }, { resolve: () => node }), 1);
  assert.throws(values, new Error('Cannot generate {"$ref":"Node"}'));
});

test("valueOf() makes numbers of any size", () => {
  for (const [minimum, maximum] of [[1e308, 1.7e308], [-1.7e308, -1e308]] as const) {
    for (const type of ["number", "integer"]) {
      for (const value of sampled({ type, minimum, maximum })) {
        assert.ok(Number(value) >= minimum && Number(value) <= maximum, String(value));
      }
    }
  }
});
