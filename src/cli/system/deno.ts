/**
 * Deno, which formats what is generated and runs what belongs to a project.
 *
 * @module
 */
import process from "node:process";
import { findOnPath, run } from "./subprocess.ts";

/** A file that is to be formatted. */
export interface Unformatted {
  /** Its path, for what it is written in. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** Finds Deno: what runs this command line, else the one on the PATH. */
export function findDeno(): string | undefined {
  return "Deno" in globalThis ? process.execPath : findOnPath("deno");
}

/** Gives the version of the Deno that runs projects; nothing where there is none. */
export async function denoVersion(cwd: string): Promise<string | undefined> {
  const deno = findDeno();
  if (deno === undefined) return undefined;
  const { stdout } = await run([deno, "--version"], { cwd });
  return /^deno (\S+)/.exec(stdout)?.[1];
}

/**
 * Formats a file as the project in a folder does; what Deno does not format, or where there is no
 * Deno, is given back as it is.
 */
export async function format({ path, text }: Unformatted, cwd: string): Promise<string> {
  const [extension] = /(?<=\.)(?:ts|json|md|yaml)$/.exec(path) ?? [];
  const deno = findDeno();
  if (extension === undefined || deno === undefined) return text;
  const outcome = await run([deno, "fmt", "--ext", extension, "-"], { cwd, input: text });
  return outcome.code === 0 ? outcome.stdout : text;
}

/** Formats all files of a project; without Deno they stay as they are. */
export async function formatAll(cwd: string, signal?: AbortSignal): Promise<void> {
  const deno = findDeno();
  if (deno !== undefined) await run([deno, "fmt", "--quiet"], { cwd, signal });
}
