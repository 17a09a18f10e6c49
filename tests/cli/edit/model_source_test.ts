import assert from "node:assert/strict";
import { addUniqueToModel, readModelSource } from "../../../src/cli/edit/model_source.ts";
import { test } from "../../support/test.ts";

const FIELDS = "{ id: field.integer().primaryKey(), org: field.text(), slug: field.text() }";

const OPTIONS: Readonly<Record<string, string>> = {
  "": ', { unique: [["org", "slug"]] }',
  ', { index: ["org"] }': ', { index: ["org"], unique: [["org", "slug"]] }',
  ', { unique: [["a", "b"]] }': ', { unique: [["a", "b"], ["org", "slug"]] }',
  ", {}": ', { unique: [["org", "slug"]] }',
};

for (const [before, after] of Object.entries(OPTIONS)) {
  test(`addUniqueToModel() adds a key to a model with ${before || "no options"}`, async () => {
    const source = (options: string) => `export const A = model("as", ${FIELDS}${options});\n`;
    const text = await addUniqueToModel(source(before), ["org", "slug"]);
    assert.equal(text, source(after));
    assert.deepEqual((await readModelSource(text ?? ""))?.unique.at(-1), ["org", "slug"]);
  });
}

test("addUniqueToModel() changes no model that it does not understand", async () => {
  for (const options of [", options", ", { unique: keys }", ", { unique: [], ...more }"]) {
    const source = `model("as", ${FIELDS}${options});`;
    const text = await addUniqueToModel(source, ["org", "slug"]);
    assert.ok(text === undefined || options.includes("..."), options);
  }
  assert.equal(await addUniqueToModel("model(1", ["a", "b"]), undefined);
});
