/**
 * Joins the modules of the npm package into fewer files: to find and load a module takes a runtime
 * longer than to run it. What is imported dynamically stays apart.
 *
 * @module
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rollup } from "rollup";

/** The entry point that every application imports; what it imports becomes one file. */
const MAIN = "mod.js";

/** The folder of the modules that are not entry points. */
const FOLDER = "src/joined";

/** Joins the modules of the package in a folder, apart from those of its own bundles. */
export async function joinModules(
  root: string,
  { apart }: { readonly apart: readonly string[] },
): Promise<void> {
  const modules = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js") && !apart.includes(file));
  const entryPoints = entryPointsOf(root).filter((file) => modules.includes(file));
  await using bundle = await rollup({
    input: Object.fromEntries(entryPoints.map((file) => [file, join(root, file)])),
    external: /^[^./]/,
    onwarn({ code, message }) {
      if (code === "EMPTY_BUNDLE") return; // an entry point of types
      throw new Error(`Cannot join the modules: ${message}`);
    },
  });
  const { output } = await bundle.generate({
    manualChunks: { main: [join(root, MAIN)] },
    entryFileNames: "[name]",
    chunkFileNames: `${FOLDER}/[name]-[hash].js`,
    hoistTransitiveImports: false,
  });
  for (const file of modules) rmSync(join(root, file));
  for (const chunk of output) {
    if (chunk.type !== "chunk") throw new Error(`Cannot join ${chunk.fileName}: it is no module`);
    checkNames(chunk);
    const path = join(root, chunk.fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, chunk.code);
  }
}

/** Lists the entry points that the manifest names. */
function entryPointsOf(root: string): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return Object.values(exports as Record<string, { readonly import: string }>)
    .map((entry) => join(entry.import));
}

/** Checks that no class was renamed: error messages contain the names of classes. */
function checkNames({ fileName, code }: { readonly fileName: string; readonly code: string }) {
  const [renamed] = /\bclass \w+\$\d+/.exec(code) ?? [];
  if (renamed) throw new Error(`Cannot join the modules: two have a ${renamed} in ${fileName}`);
}
