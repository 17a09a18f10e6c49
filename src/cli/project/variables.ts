/**
 * The variables of a project's environment.
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { readText } from "../system/files.ts";
import { findDeno, run } from "../system/programs.ts";
import { CliError, lineOf } from "../terminal/cli_error.ts";

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads the variables of the application: those of the process, else those of `.env` in its folder.
 * Deno reads that file, as for the application: others read variables that are set twice, or refer
 * to others, differently. Without Deno, which would run the project, Node's reading is returned.
 *
 * @throws {CliError} if the file cannot be read
 */
export async function readVariables(root: string): Promise<Variables> {
  const text = readFile(join(root, ".env"));
  if (text === undefined) return process.env;
  const deno = findDeno();
  if (deno === undefined) return { ...parseEnv(text), ...process.env };
  const { code, stdout, stderr } = await run(
    [deno, "eval", "--quiet", "--no-config", "--env-file=.env", PRINT],
    { cwd: root },
  );
  if (code === 0) return JSON.parse(stdout);
  throw new CliError(`Cannot read .env: ${lineOf(stderr)}`);
}

const PRINT = "console.log(JSON.stringify(Deno.env.toObject()))";

function readFile(file: string): string | undefined {
  try {
    return readText(file);
  } catch (cause) {
    throw new CliError(`Cannot read .env: ${lineOf(cause)}`, { cause });
  }
}
