/** What a document describes of a model is what its schemas take: each kind, with bounds. */
import assert from "node:assert/strict";
import fc from "fast-check";
import * as v from "valibot";
import { field, model } from "../../../src/db/mod.ts";
import { createSchemaOf } from "../../../src/db/schemas/mod.ts";
import { createConvert } from "../../../src/openapi/json_schema/convert.ts";
import { valueOf } from "../../../src/testing/prove/request/arbitrary_value.ts";
import { test } from "../../support/test.ts";

const Thing = model("things", {
  id: field.integer().primaryKey(),
  whole: field.bigint(),
  few: field.bigint({ min: 1n, max: 10n }),
  price: field.decimal({ precision: 12, scale: 2, min: "0.01" }),
  share: field.decimal({ precision: 4, scale: 4 }),
  count: field.decimal({ precision: 3, scale: 0, max: "12" }),
  opens: field.time(),
  day: field.date(),
  at: field.timestamp(),
  ratio: field.real({ min: 0, max: 1 }),
  seats: field.integer({ min: 0, max: 500 }),
  name: field.text({ min: 2, max: 80 }),
  email: field.text().email(),
  tags: field.bigint({ max: 9n }).array(),
});

test("each value that the document of a model describes is one that its schemas take", async () => {
  const schema = createSchemaOf(Thing);
  const convert = await createConvert([{ schema, direction: "input" }]);
  const described = convert(schema, "input")?.json;
  assert.ok(described);
  const resolve = () => assert.fail();
  for (const value of fc.sample(valueOf(described, { resolve }), { numRuns: 2000, seed: 1 })) {
    const { issues = [] } = v.safeParse(schema, value);
    const found = issues.map(({ message, path }) =>
      `${v.getDotPath({ path } as never)} ${message}`
    );
    assert.deepEqual(found, [], JSON.stringify(value));
  }
});
