import { scope, type } from "arktype";
import assert from "node:assert/strict";
import * as v from "valibot";
import * as z from "zod";
import * as mini from "zod/mini";
import type { AnySchema } from "../../../mod.ts";
import { inputKeysOf, transforms } from "../../../src/core/schema/schema_libraries.ts";
import { InputSchema } from "../../../src/core/schema/validation.ts";
import { test } from "../../support/test.ts";

const text = v.string();
const of = (...keys: string[]) => v.object(Object.fromEntries(keys.map((key) => [key, text])));
const zodOf = (...keys: string[]) =>
  z.object(Object.fromEntries(keys.map((key) => [key, z.string()])));

/** Schemas, with the keys that they name in their input. */
const NAMING: readonly (readonly [what: string, schema: AnySchema, keys: readonly string[]])[] = [
  ["an object of valibot", v.object({ a: text, b: v.optional(text, "x") }), ["a", "b"]],
  ["a loose object of valibot", v.looseObject({ a: text }), ["a"]],
  ["an object of valibot with checks", v.pipe(of("a"), v.check(() => true)), ["a"]],
  ["an object of valibot that becomes another", v.pipe(of("a"), v.transform(() => 1)), ["a"]],
  ["an asynchronous object of valibot", v.objectAsync({ a: text }), ["a"]],
  ["a union of valibot", v.union([of("a", "b"), of("b", "c")]), ["a", "b", "c"]],
  ["an intersection of valibot", v.intersect([of("a"), of("b")]), ["a", "b"]],
  ["a variant of valibot", v.variant("t", [v.object({ t: v.literal("a"), a: text })]), ["t", "a"]],
  ["an optional object of valibot", v.optional(of("a")), ["a"]],
  ["an object of zod", z.object({ a: z.string(), b: z.string().optional() }), ["a", "b"]],
  ["an object of zod/mini", mini.object({ a: mini.string() }), ["a"]],
  ["an object of zod that becomes another", zodOf("a").transform(() => 1), ["a"]],
  ["an object of zod with checks", zodOf("a").refine(() => true), ["a"]],
  ["a union of zod", z.union([zodOf("a"), zodOf("b")]), ["a", "b"]],
  ["an intersection of zod", zodOf("a").and(zodOf("b")), ["a", "b"]],
  ["an object of zod with a default", zodOf("a").prefault({ a: "x" }).readonly(), ["a"]],
  ["an object of arktype", type({ a: "string", "b?": "string", c: "string = 'x'" }), [
    "a",
    "c",
    "b",
  ]],
  ["an object of arktype that becomes another", type({ a: "string" }).pipe(() => 1), ["a"]],
  ["an object of arktype with checks", type({ a: "string" }).narrow(() => true), ["a"]],
  ["a union of arktype", type({ a: "string" }).or({ b: "string" }), ["a", "b"]],
  ["a recursive type of arktype", scope({ node: { "a?": "node" } }).export().node, ["a"]],
];
for (const [what, schema, keys] of NAMING) {
  test(`inputKeysOf() lists the keys of ${what}`, () => {
    assert.deepEqual(inputKeysOf(schema), keys);
  });
}

/** Schemas of which it is unknown whether they have other keys. */
const UNKNOWN: Readonly<Record<string, AnySchema>> = {
  "a record of valibot": v.record(text, text),
  "a picklist of valibot": v.picklist(["a"]),
  "a lazy schema of valibot": v.lazy(() => of("a")),
  "a union of valibot with an unknown part": v.union([of("a"), v.lazy(() => of("b"))]),
  "a conversion of valibot": v.pipe(v.unknown(), v.transform(() => ({ a: "" })), of("a")),
  "a record of zod": z.record(z.string(), z.string()),
  "an enum of zod": z.enum(["a"]),
  "a preprocessed object of zod": z.preprocess((value) => value, zodOf("a")),
  "a lazy schema of zod": z.lazy(() => zodOf("a")),
  "a text of arktype": type("string"),
  "a union of arktype with an unknown part": type({ a: "string" }).or("string"),
  "another library": { "~standard": { ...text["~standard"], vendor: "other" } },
  "a wrapper of valibot": { "~standard": of("a")["~standard"] },
};
for (const [what, schema] of Object.entries(UNKNOWN)) {
  test(`inputKeysOf() returns undefined for ${what}`, () => {
    assert.equal(inputKeysOf(schema), undefined);
  });
}

test("transforms() reports schemas that compute their output from the whole input", () => {
  const whole = [
    v.pipe(of("a"), v.transform(() => 1)),
    zodOf("a").transform(() => 1),
    type({ a: "string" }).pipe(() => 1),
  ];
  assert.deepEqual(whole.map(transforms), [true, true, true]);
  const parts = [
    v.pipe(v.object({ a: v.pipe(text, v.toNumber()) }), v.check(() => true), v.title("A")),
    z.object({ a: z.coerce.number() }),
    type({ a: "string.numeric.parse" }),
  ];
  assert.deepEqual(parts.map(transforms), [false, false, false]);
});

test("InputSchema accepts no array for an object of arktype", async () => {
  for (
    const schema of [
      type({ "a?": "string" }),
      type("object"),
      type({ "a?": "string" }).pipe(() => 1),
    ]
  ) {
    await assert.rejects(new InputSchema<AnySchema>("body", schema).parse([]), {
      errors: [{ in: "body", field: "", message: "Invalid type: Expected Object" }],
    });
  }
  for (const schema of [type("string[]"), type({ a: "string" }).or("string[]"), type("unknown")]) {
    assert.deepEqual(await new InputSchema<AnySchema>("body", schema).parse(["a"]), ["a"]);
  }
});
