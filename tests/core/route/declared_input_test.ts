import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import { type } from "arktype";
import assert from "node:assert/strict";
import * as v from "valibot";
import * as z from "zod";
import {
  type AnySchema,
  controller,
  FwFactory,
  module,
  route,
  validatedPath,
} from "../../../mod.ts";
import { test } from "../../support/test.ts";

async function appOf(params: AnySchema, { path = "/:id", prefix = "things/:owner" } = {}) {
  class ThingsController extends controller(prefix) {
    one = route.get(path, { params }, () => "one");
  }
  return await FwFactory.create(module({ name: "App", controllers: [ThingsController] }));
}

/** A schema of no known library that describes itself. */
const foreign: AnySchema & StandardJSONSchemaV1 = {
  "~standard": {
    version: 1,
    vendor: "none",
    validate: (value) => ({ value }),
    jsonSchema: {
      input: () => ({ type: "object", properties: { name: { type: "string" } } }),
      output: () => ({}),
    },
  },
};

const REFUSED: Readonly<Record<string, readonly [schema: AnySchema, name: string]>> = {
  "valibot's object": [v.object({ owner: v.string(), idd: v.string() }), "idd"],
  "valibot's pipe": [v.pipe(v.strictObject({ idd: v.string() }), v.check(() => true)), "idd"],
  "an optional parameter of valibot that is the only one": [
    v.object({ idd: v.optional(v.string()) }),
    "idd",
  ],
  "zod's object": [z.object({ owner: z.string(), idd: z.coerce.number() }), "idd"],
  "arktype's object": [type({ owner: "string", idd: "string" }), "idd"],
  "a schema that describes itself": [foreign, "name"],
};

for (const [what, [schema, name]] of Object.entries(REFUSED)) {
  test(`an application refuses params that the path does not have: ${what}`, async () => {
    const refusal = {
      name: "TypeError",
      message: `Cannot mount App.ThingsController.one: params declares ${name}, ` +
        "which is not a parameter of GET /things/:owner/:id",
    };
    const app = await appOf(schema);
    await assert.rejects(app.ready(), refusal);
    await assert.rejects(app.request("/things/ada/1"), refusal);
    await assert.rejects(app.listen(0), refusal);
    await app.setGlobalPrefix(`/:${name}`).ready(); // whose parameters count too
    await app.close();
  });
}

const ACCEPTED: Readonly<Record<string, AnySchema>> = {
  "those of the prefix": v.object({ owner: v.string() }),
  "an optional one beside another": v.object({ id: v.string(), locale: v.optional(v.string()) }),
  "an optional one of arktype": type({ id: "string", "locale?": "string" }),
  "branches that name different ones": v.union([
    v.object({ id: v.string() }),
    v.object({ name: v.string() }),
  ]),
  "any": v.record(v.string(), v.string()),
  "an asynchronous schema": v.objectAsync({
    id: v.pipeAsync(v.string(), v.checkAsync(() => Promise.resolve(true))),
  }),
  "a schema that throws": {
    "~standard": {
      version: 1,
      vendor: "none",
      validate: () => {
        throw new Error("not now");
      },
    },
  },
};

for (const [what, schema] of Object.entries(ACCEPTED)) {
  test(`an application accepts params: ${what}`, async () => {
    const app = await appOf(schema);
    await app.ready();
    await app.close();
  });
}

test("an optional parameter and a constrained one are of the path", async () => {
  const params = v.object({ id: v.string(), page: v.optional(v.string()) });
  const app = await appOf(params, { path: "/:id{[0-9]+}/:page?" });
  await app.ready();
  await app.close();
});

test("an application refuses what validatedPath() needs and the path does not have", async () => {
  class ThingsController extends controller("things") {
    one = route.get(
      "/:id",
      { args: { path: validatedPath(v.object({ slug: v.string() })) } },
      () => 1,
    );
  }
  const app = await FwFactory.create(module({ name: "App", controllers: [ThingsController] }));
  await assert.rejects(app.ready(), {
    message: "Cannot mount App.ThingsController.one: params declares slug, " +
      "which is not a parameter of GET /things/:id",
  });
});
