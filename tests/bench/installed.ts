/**
 * Packages that only a benchmark needs, in a folder of their own that is gone with it.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** Packages that are installed. */
export interface Installed extends AsyncDisposable {
  /** The folder. */
  readonly folder: string;
  /** Loads one of them. */
  readonly require: ReturnType<typeof createRequire>;
  /** Runs a program in the folder. */
  readonly run: (program: string, args: readonly string[]) => Promise<unknown>;
}

/** Installs packages of these versions from npm, without their scripts. */
export async function installPackages(
  dependencies: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), "fw-bench-"));
  const remove = () => rm(folder, { recursive: true });
  const options = { cwd: folder, env: { ...process.env, ...env } };
  const run = (program: string, args: readonly string[]) =>
    promisify(execFile)(program, args, options);
  try {
    const file = join(folder, "package.json");
    await writeFile(file, JSON.stringify({ private: true, dependencies }));
    const quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", ["install", ...quietly]);
    return { folder, run, require: createRequire(file), [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
