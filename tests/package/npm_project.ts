/**
 * New projects outside of the checkout that install the package from an npm registry.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { run } from "../../src/cli/system/programs.ts";
import { TemporaryFolder } from "../support/temporary_folder.ts";
import { ROOT } from "../support/project.ts";
import { QUICK_START } from "./quick_start.ts";

const { exports } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8"));

/** The entry points of the package. */
export const ENTRY_POINTS: readonly string[] = Object.keys(exports).map((name) =>
  join("@fw/fw", name)
);

/**
 * Imports each module of the package for this runtime, including dynamically imported ones.
 */
const IMPORT_ALL = `
import { readdirSync } from "node:fs";
${ENTRY_POINTS.map((name) => `await import("${name}");`).join("\n")}
const root = "./node_modules/@fw/fw/";
const names = readdirSync(root + "src", { recursive: true });
const others = ["left_out.js", ..."Bun" in globalThis ? [] : ["runtime/bun.js"]];
// proofs need packages that a project need not have
const isLeftOut = (name) => process.argv[2] !== "proofs" && /^testing.prove./.test(name);
const modules = names.filter((name) =>
  name.endsWith(".js") && !others.includes(name) && !isLeftOut(name)
);
for (const name of modules) await import(root + "src/" + name);
console.log(modules.length > ${ENTRY_POINTS.length});
`;

/** Creates a project from the quick start, with the registry in its `.npmrc`. */
export function newNpmProject(registry: string): TemporaryFolder {
  const folder = new TemporaryFolder();
  const files = {
    ".npmrc": `@fw:registry=${registry}/\n`,
    "main.ts": QUICK_START,
    "import_all.mjs": IMPORT_ALL,
    "all.ts": ENTRY_POINTS.map((name, i) => `export * as m${i} from "${name}";\n`).join(""),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  return folder;
}

/** Runs a command that must succeed; returns its stdout. */
export async function succeed(
  words: readonly [string, ...string[]],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const options = { cwd, env: { ...process.env, NO_COLOR: "1", ...env } };
  const { code, stdout, stderr } = await run(words, options);
  assert.equal(code, 0, `${words.join(" ")}: ${stdout}${stderr}`);
  return stdout.trim();
}
