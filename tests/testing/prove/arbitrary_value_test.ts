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
