import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { buildNpmPackage } from "./npm_package.ts";
import { testOn } from "../support/test.ts";
import { ENTRY_POINTS } from "./npm_project.ts";

/** Intended findings: the package has only ECMAScript modules, resolved only by `exports`. */
const ESM_ONLY: Readonly<Record<string, string>> = {
  "node16-cjs": "CJSResolvesToESM",
  node10: "NoResolution",
};

/** Declares a test of the package; slow, as building it takes long. */
function packageTest(name: string, body: () => void | Promise<void>): void {
  testOn(["deno"], "it builds the package")(name, body, { slow: true });
}

let built: Promise<Uint8Array<ArrayBuffer>> | undefined;

/** Returns the package, which is built once. */
function tarball(): Promise<Uint8Array<ArrayBuffer>> {
  return built ??= build();
}

packageTest(
  "attw reports no problem with the types of any entry point of the package",
  async () => {
    const result = await checkPackage(createPackageFromTarballData(await tarball()));
    if (!result.types) throw new Error("The package has no types");
    const problems = result.problems.filter((problem) =>
      !("resolutionKind" in problem) || ESM_ONLY[problem.resolutionKind] !== problem.kind
    );
    assert.deepEqual(problems, []);
    const names = Object.keys(result.entrypoints).map((name) => join("@fw/fw", name));
    assert.deepEqual(names, ENTRY_POINTS);
  },
);

packageTest("publint reports no problem with the package", async () => {
  const { messages, pkg } = await publint({
    pack: { tarball: (await tarball()).buffer },
    strict: true,
  });
  assert.deepEqual(messages, []);
  assert.deepEqual([pkg["name"], pkg["bin"]], ["@fw/fw", { fw: "./src/cli/mod.js" }]);
});

packageTest("runtimes load the modules of the main entry point from one file", async () => {
  const pkg = createPackageFromTarballData(await tarball());
  const importsOf = (file: string) =>
    [...pkg.readFile(file).matchAll(/\bfrom "(\.[^"]+)"/g)]
      .map(([, from = ""]) => join(dirname(file), from));
  const [joined = "", ...others] = new Set(importsOf("/node_modules/@fw/fw/joined/mod.js"));
  assert.deepEqual(others, []);
  assert.deepEqual(importsOf(joined), []);
});

async function build(): Promise<Uint8Array<ArrayBuffer>> {
  using folder = new TemporaryFolder();
  const file = join(folder.path, "fw.tgz");
  await buildNpmPackage(file);
  return new Uint8Array(readFileSync(file));
}
