/** The imports of the project's source files, as text says them; for the rules about them. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's root folder. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** One import or re-export of a file. */
export interface Import {
  /** The imported file, relative to the root; or a bare package name. */
  readonly target: string;
  /** Whether it is erased, or happens only when it is called for. */
  readonly kind: "static" | "type" | "dynamic";
}

/** Lists the TypeScript files under a folder, relative to the root. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

/** What is no code of the file itself, comments with examples and templates of code; or a string. */
const TEXT = /("(?:\\.|[^"\\\n])*")|\/\*[^]*?\*\/|^\s*\/\/.*$|`(?:\\.|[^`\\])*`/gm;

/** Lists what a file imports. */
export function importsOf(file: string): Import[] {
  const code = readFileSync(join(ROOT, file), "utf8").replaceAll(TEXT, "$1");
  const statements = code.matchAll(/^(?:import|export)\s+(type\s)?[^;"'(]*?\bfrom\s+"([^"]+)";/gm);
  const calls = code.matchAll(/\bimport\(\s*"([^"]+)"/g);
  return [
    ...[...statements].map(([, type, from = ""]): Import => ({
      target: resolve(file, from),
      kind: type ? "type" : "static",
    })),
    ...[...calls].map(([, from = ""]): Import => ({
      target: resolve(file, from),
      kind: "dynamic",
    })),
  ];
}

/** Lists the files and packages that importing a file loads. */
export function loadedBy(file: string, seen: Set<string> = new Set([file])): ReadonlySet<string> {
  for (const { target, kind } of importsOf(file)) {
    if (kind !== "static" || seen.has(target)) continue;
    seen.add(target);
    if (target.endsWith(".ts")) loadedBy(target, seen);
  }
  return seen;
}

function resolve(file: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return relative(ROOT, join(ROOT, dirname(file), specifier));
}
