import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { projectVersion } from "../../src/runtime/project_version.ts";
import { ROOT } from "../support/project.ts";
import { Subprocess } from "../support/subprocess.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { test, testOn } from "../support/test.ts";

/** Writes the files of a project. */
function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Projects whose main module is `src/main.ts`, with the version of each. */
const PROJECTS: Readonly<
  Record<string, readonly [files: Readonly<Record<string, string>>, version: string | undefined]>
> = {
  "deno.json": [{ "deno.json": '{ "version": "1.2.3" }' }, "1.2.3"],
  "package.json": [{ "package.json": '{ "version": "1.2.3" }' }, "1.2.3"],
  "deno.jsonc, with comments and trailing commas": [
    {
      "deno.jsonc": '{\n  // "version": "0.1.0",\n  "name": "a//b,}", /* "version": "2" */\n' +
        '  "version": "1.2.3", // \\"\n  "imports": { "x": "https://x.example/a", },\n}',
    },
    "1.2.3",
  ],
  "deno.json before package.json": [
    { "deno.json": '{ "version": "1.2.3" }', "package.json": '{ "version": "3.0.0" }' },
    "1.2.3",
  ],
  "package.json where deno.json has no version": [
    { "deno.json": "{}", "package.json": '{ "version": "1.2.3" }' },
    "1.2.3",
  ],
  "the nearest folder": [
    { "package.json": '{ "version": "3.0.0" }', "src/package.json": '{ "version": "1.2.3" }' },
    "1.2.3",
  ],
  "no version of the folder above another project": [
    { "package.json": '{ "version": "3.0.0" }', "src/deno.json": "{}" },
    undefined,
  ],
  "none of a file that is not JSON": [{ "deno.json": "version: 1.2.3" }, undefined],
  "none of a version that is not a text": [{ "deno.json": '{ "version": 1 }' }, undefined],
  "none of an empty version": [{ "deno.json": '{ "version": "" }' }, undefined],
  "none of a list": [{ "deno.json": "[]" }, undefined],
  "none of null": [{ "deno.json": "null" }, undefined],
};
for (const [what, [files, version]] of Object.entries(PROJECTS)) {
  test(`projectVersion() finds ${what}`, async () => {
    using folder = new TemporaryFolder();
    write(folder.path, files);
    assert.equal(await projectVersion({ main: join(folder.path, "src", "main.ts") }), version);
  });
}

test("projectVersion() searches from the working directory without a main module, and for a tool", async () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));
  assert.equal(await projectVersion({ main: "" }), version);
  assert.equal(await projectVersion({ main: join(ROOT, "node_modules/tool/bin.js") }), version);
});

test("projectVersion() knows nothing of a main module of another host", async () => {
  assert.equal(await projectVersion({ main: "https://example.com/main.ts" }), undefined);
});

const MAIN = `
import { projectVersion } from ${
  JSON.stringify(String(pathToFileURL(join(ROOT, "src/runtime/project_version.ts"))))
};
console.log("version:", await projectVersion());
`;

test("projectVersion() is by default that of the main module's project, wherever it runs", async () => {
  using folder = new TemporaryFolder();
  write(folder.path, { "app/package.json": '{ "version": "1.2.3" }', "app/src/main.ts": MAIN });
  await using process = new Subprocess("app/src/main.ts", { cwd: folder.path });
  const { code, output } = await process.ended;
  assert.equal(code, 0, output);
  assert.match(output, /version: 1\.2\.3/);
});

testOn(["deno"], "permissions are Deno's")(
  "projectVersion() reads what the permissions grant, and requests nothing else",
  async () => {
    using folder = new TemporaryFolder();
    write(folder.path, { "deno.json": '{ "version": "1.2.3" }', "main.ts": MAIN });
    const file = join(folder.path, "deno.json");
    const audit = join(folder.path, "audit.jsonl");
    for (
      const [permissions, version, requested] of [
        [["--allow-env=HOST"], "undefined", false], // without a flag, Deno would allow its child everything
        [[`--allow-read=${join(folder.path, "public")}`], "undefined", false],
        [[`--allow-read=${file}`], "1.2.3", true],
      ] as const
    ) {
      writeFileSync(audit, "");
      await using process = new Subprocess("main.ts", {
        cwd: folder.path,
        permissions,
        env: { DENO_AUDIT_PERMISSIONS: audit },
      });
      const { code, output } = await process.ended;
      assert.equal(code, 0, output);
      assert.match(output, new RegExp(`version: ${version}`));
      assert.equal(readFileSync(audit, "utf8").includes(JSON.stringify(file)), requested);
    }
  },
);
