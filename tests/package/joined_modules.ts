/**
 * Joins the modules of the npm package into fewer files, for runtimes: to find and load a module
 * takes them longer than to run it. What is imported dynamically stays apart. Bundlers get the
 * modules themselves, of which they leave out what is not used.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rollup } from "rollup";
import { withoutComments } from "./bundled.ts";

/** The entry point that every application imports; what it imports becomes one file. */
const MAIN = "mod.js";

/** The folder of the joined modules, and the conditions of the runtimes that load them. */
const FOLDER = "joined";
const RUNTIMES = ["deno", "bun", "node"];

/** The files of each entry point, by condition. */
export type EntryPoints = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Joins the modules of the package in a folder, apart from an entry point that is a bundle; returns
 * the entry points for the manifest.
 */
export async function joinModules(
  root: string,
  { apart }: { readonly apart: string },
): Promise<EntryPoints> {
  const { exports }: { readonly exports: EntryPoints } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const joined = Object.entries(exports).filter(([, { import: file = "" }]) =>
    join(file) !== apart
  );
  const files = joined.map(([, { import: file = "" }]) => join(file));
  await using bundle = await rollup({
    input: Object.fromEntries(files.map((file) => [file, join(root, file)])),
    external: /^[^./]/,
    onwarn({ code, message }) {
      if (code === "EMPTY_BUNDLE") return; // an entry point of types
      throw new Error(`Cannot join the modules: ${message}`);
    },
  });
  const { output } = await bundle.generate({
    manualChunks: { main: [join(root, MAIN)] },
    entryFileNames: `${FOLDER}/[name]`,
    chunkFileNames: `${FOLDER}/[name]-[hash].js`,
    hoistTransitiveImports: false,
  });
  for (const chunk of output) {
    if (chunk.type !== "chunk") throw new Error(`Cannot join ${chunk.fileName}: it is no module`);
    checkNames(chunk);
    const path = join(root, chunk.fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, withoutComments(chunk.code));
  }
  return { ...exports, ...Object.fromEntries(joined.map(withJoined)) };
}

/** Adds the joined module of an entry point, after its types. */
function withJoined([name, { types = "", ...others }]: readonly [string, EntryPoints[string]]) {
  const file = `./${join(FOLDER, others["import"] ?? "")}`;
  const byRuntime = Object.fromEntries(RUNTIMES.map((runtime) => [runtime, file]));
  return [name, { types, ...byRuntime, ...others }] as const;
}

/** Checks that no class was renamed: error messages contain the names of classes. */
function checkNames({ fileName, code }: { readonly fileName: string; readonly code: string }) {
  const [renamed] = /\bclass \w+\$\d+/.exec(code) ?? [];
  if (renamed) throw new Error(`Cannot join the modules: two have a ${renamed} in ${fileName}`);
}
