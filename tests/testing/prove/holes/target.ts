/** Applications that holes are put into: copies of their files, which this process imports. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Proof } from "../../../../src/testing/mod.ts";

/** The folder of the repository. */
export const ROOT = new URL("../../../../", import.meta.url);

/** An application without a hole. */
export interface Target extends AsyncDisposable {
  readonly name: string;
  /** Its files, from its folder. */
  readonly files: ReadonlyMap<string, string>;
  /** The file that imports the others. */
  readonly entry: string;
  /** Its OpenAPI document. */
  readonly document: unknown;
  /** Returns the proof of what the entry exports. */
  proofOf(entry: object): Proof;
}

/** Reads the TypeScript files of a folder, without tests. */
export function readFiles(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith("_test.ts"));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

/** Writes files into a folder; what they import of the framework is that of the repository. */
export function writeFiles(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [name, text] of files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, importing(text));
  }
}

const { exports } = JSON.parse(readFileSync(new URL("deno.json", ROOT), "utf8"));

function importing(text: string): string {
  return text
    .replaceAll(/"(?:\.\.\/)+(mod\.ts|src\/[^"]+)"/g, (_, path) => `"${new URL(path, ROOT)}"`)
    .replaceAll(
      /"@fw\/fw(\/[^"]+)?"/g,
      (_, path = "") => `"${new URL(exports[`.${path}`], ROOT)}"`,
    );
}

/** Returns the path of a file of the repository. */
export function pathOf(name: string): string {
  return fileURLToPath(new URL(name, ROOT));
}
