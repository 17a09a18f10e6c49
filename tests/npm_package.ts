/**
 * Builds the package for npm: what `deno pack` makes of the sources, and the command `fw`.
 *
 *     deno run -A tests/npm_package.ts fw.tgz
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { ROOT } from "./project.ts";

/** What npm links as `fw`: deno.json has no word for it. */
const BIN = `#!/usr/bin/env node
import process from "node:process";
import { main } from "./main.js";

process.exitCode = await main(process.argv.slice(2));
`;

/** Builds the package, as a file. */
export function buildNpmPackage(file: string): void {
  const folder = mkdtempSync(join(tmpdir(), "fw-npm-"));
  try {
    run(process.execPath, [
      "pack",
      "--quiet",
      "--allow-dirty",
      "--no-source-maps",
      "-o",
      join(folder, "packed.tgz"),
    ], ROOT);
    run("tar", ["xzf", "packed.tgz"], folder);
    const manifest = join(folder, "package/package.json");
    writeFileSync(join(folder, "package/src/cli/fw.js"), BIN);
    writeFileSync(
      manifest,
      JSON.stringify(
        { ...JSON.parse(readFileSync(manifest, "utf8")), bin: { fw: "./src/cli/fw.js" } },
        null,
        2,
      ),
    );
    const [packed = ""] = run("npm", ["pack", "--silent"], join(folder, "package")).trim().split(
      "\n",
    );
    renameSync(join(folder, "package", packed), resolve(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot run ${program} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

if (import.meta.main) buildNpmPackage(process.argv[2] ?? "fw.tgz");
