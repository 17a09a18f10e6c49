import { type } from "arktype";
import assert from "node:assert/strict";
import * as v from "valibot";
import * as z from "zod";
import { type AnySchema, controller, FwFactory, module, route } from "../../mod.ts";
import { captureLogs } from "../support/capture_logs.ts";
import { test } from "../support/test.ts";

async function warningsOf(query: AnySchema): Promise<readonly unknown[]> {
  class FindController extends controller() {
    find = route.get("/find", { query }, () => 1);
  }
  const app = await FwFactory.create(module({ controllers: [FindController] }));
  const warnings: unknown[] = [];
  await captureLogs(["fw", "openapi"], async (records) => {
    await app.enableOpenApi().ready();
    warnings.push(...records.map(({ properties }) => properties.warning));
  });
  return warnings;
}

const text = v.string();
const REFUSED: Readonly<Record<string, readonly [AnySchema, string]>> = {
  "v.number()": [v.object({ n: v.number(), other: text }), "number"],
  "v.boolean()": [v.object({ n: v.optional(v.boolean()) }), "boolean"],
  "a range": [v.object({ n: v.pipe(v.number(), v.integer(), v.minValue(100)) }), "integer"],
  "a list of numbers": [v.object({ n: v.array(v.number()) }), "number"],
  "an object": [v.object({ n: v.object({ a: text }) }), "object"],
  "z.number()": [z.object({ n: z.number().min(3) }), "number"],
  "z.object()": [z.object({ n: z.object({ a: z.string() }) }), "object"],
  "arktype's number": [type({ n: "number" }), "number"],
};
for (const [what, [schema, kind]] of Object.entries(REFUSED)) {
  test(`boot warns of a query that no request satisfies: ${what}`, async () => {
    assert.deepEqual(await warningsOf(schema), [
      `No request with n satisfies the query of GET /find: it takes ${kind}, but parameters are sent as ` +
      "text; convert it from text, as v.pipe(v.string(), v.toNumber()) and z.coerce.number() do",
    ]);
  });
}

const TAKEN: Readonly<Record<string, AnySchema>> = {
  "v.toNumber()": v.object({ n: v.pipe(text, v.toNumber(), v.minValue(100)), other: v.string() }),
  "z.coerce.number() with a range": z.object({ n: z.coerce.number().int().min(7).max(9) }),
  "z.coerce.boolean()": z.object({ n: z.coerce.boolean() }),
  "z.stringbool()": z.object({ n: z.stringbool() }),
  "a list of z.coerce.number()": z.object({ n: z.array(z.coerce.number().gt(10)) }),
  "arktype's string.integer.parse": type({ n: "string.integer.parse" }),
  "one that throws": v.object({
    n: v.pipe(v.any(), v.transform(() => assert.fail("no")), v.number()),
  }),
  "an asynchronous one": v.objectAsync({ n: v.number() }),
  "a range between whole numbers": z.object({ n: z.coerce.number().gt(0).lt(1) }),
  "a list of a length": z.object({ n: z.array(z.coerce.number()).length(4) }),
  "a refinement": z.object({ n: z.coerce.number().refine((n) => n > 100) }),
  "JSON in a query": z.object({
    n: z.preprocess((s) => JSON.parse(String(s)), z.object({ a: z.string() })),
  }),
  "texts": v.object({ n: text, m: v.picklist(["a"]), o: v.array(text) }),
};
for (const [what, schema] of Object.entries(TAKEN)) {
  test(`boot does not warn of a query that requests satisfy: ${what}`, async () => {
    assert.deepEqual(await warningsOf(schema), []);
  });
}
