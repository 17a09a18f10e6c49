/**
 * Lets Node 22, which cannot parse `using`, run the tests: `node --import=./tests/support/lower_using.ts --test`.
 * What is not under `tests` is loaded as it is.
 *
 * @module
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import type TypeScript from "typescript";

const TESTS = new URL("..", import.meta.url);
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/lower_using", import.meta.url));
const USING = /\busing \w+ =/;

process.setSourceMapsEnabled(true);
// one process lowers all files sooner than each that needs one
if (!existsSync(CACHE)) lowerAll();
registerHooks({
  load(url, context, nextLoad) {
    const source = url.startsWith(TESTS.href) && url.endsWith(".ts")
      ? readFileSync(new URL(url), "utf8")
      : "";
    if (!USING.test(source)) return nextLoad(url, context);
    return { format: "module", source: lowered(source, url), shortCircuit: true };
  },
});

function lowerAll(): void {
  mkdirSync(CACHE, { recursive: true });
  const folder = fileURLToPath(TESTS);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name.includes("node_modules")) continue; // those of the bench
    const source = readFileSync(join(folder, name), "utf8");
    if (USING.test(source)) lowered(source, pathToFileURL(join(folder, name)).href);
  }
}

/** Gives what TypeScript makes of a module for ES2022, with a map to it; from a file if it was asked before. */
function lowered(source: string, url: string): string {
  const file = join(CACHE, createHash("sha256").update(url).update(source).digest("hex"));
  if (existsSync(file)) return readFileSync(file, "utf8");
  const ts: typeof TypeScript = createRequire(import.meta.url)("typescript");
  const { outputText } = ts.transpileModule(source, {
    fileName: fileURLToPath(url),
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
  });
  // others may be about to read or write it
  writeFileSync(`${file}.${process.pid}`, outputText);
  renameSync(`${file}.${process.pid}`, file);
  return outputText;
}
