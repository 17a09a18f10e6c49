import assert from "node:assert/strict";
import { loadedBy } from "../support/project.ts";
import { Subprocess } from "../support/subprocess.ts";
import { test } from "../support/test.ts";

const FILE = "tests/openapi/loading_fixture.ts";

test("Applications without it load nothing: importing the core loads no part that makes a document", () => {
  const loaded = [...loadedBy("mod.ts")];
  assert.ok(loaded.includes("src/application/application.ts"));
  const openApi = loaded.filter((file) => file.startsWith("src/openapi/"));
  assert.deepEqual(openApi, ["src/openapi/options.ts"]);
  const packages = /^(yaml|valibot|@valibot\/|zod|arktype)/;
  assert.deepEqual(loaded.filter((name) => packages.test(name)), []);
});

test("Applications without it load nothing: creating the document loads neither the writer of YAML nor valibot", () => {
  for (const file of ["src/openapi/create_document.ts", "src/openapi/endpoints.ts"]) {
    const packages = /^(yaml|valibot|@valibot\/|zod|arktype)/;
    assert.deepEqual([...loadedBy(file)].filter((name) => packages.test(name)), [], file);
  }
  assert.ok(loadedBy("src/openapi/json_schema/valibot.ts").has("@valibot/to-json-schema"));
});

for (
  const [what, args, loaded] of [
    ["that does not enable it loads nothing", ["none"], ["framework"]],
    [
      "of zod does not load the converter of valibot",
      ["zod", "/openapi.json", "/docs"],
      ["document", "page", "framework"],
    ],
    [
      "loads the writer of YAML at the first request of YAML",
      ["zod", "/openapi.yaml"],
      ["yaml", "document", "page", "framework"],
    ],
    [
      "of valibot loads its converter",
      ["valibot", "/openapi.json"],
      ["converter", "document", "page", "framework"],
    ],
  ] as const
) {
  test(`Applications load only what they use: one ${what}`, async () => {
    await using process = new Subprocess(FILE, { args });
    const { code, output } = await process.ended;
    assert.equal(code, 0, output);
    assert.deepEqual(JSON.parse(output.trim().split("\n").at(-1) ?? ""), loaded);
  });
}
