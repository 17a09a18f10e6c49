/**
 * Deno, which formats what is generated and runs what belongs to a project.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";

/** How a process ended, and what it wrote. */
export interface Outcome {
  /** Its exit code; `null` if a signal ended it. */
  readonly code: number | null;
  /** What it wrote on stdout. */
  readonly stdout: string;
  /** What it wrote on stderr. */
  readonly stderr: string;
}

/** Options of {@linkcode run}. */
export interface RunOptions {
  /** Where it runs. */
  readonly cwd: string;
  /** What it reads from stdin; default nothing. */
  readonly input?: string;
  /** Its environment; default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Finds Deno: what runs this command line, else the one on the PATH. */
export function findDeno(): string | undefined {
  if ("Deno" in globalThis) return process.execPath;
  return findOnPath("deno");
}

/** Finds a program on the PATH. */
export function findOnPath(program: string): string | undefined {
  const names = process.platform === "win32" ? [`${program}.exe`] : [program];
  return (process.env["PATH"] ?? "").split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));
}

/** Runs a program to its end, and gives what it wrote. */
export function run(
  program: string,
  args: readonly string[],
  { cwd, input = "", env = process.env }: RunOptions,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: "pipe" });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => stdout += chunk);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => stderr += chunk);
    child.once("error", reject).once("close", (code) => resolve({ code, stdout, stderr }));
    child.stdin.on("error", () => {}); // it may end before it has read all
    child.stdin.end(input);
  });
}

/**
 * Formats a file as the project in a folder does; what Deno does not format, or where there is no
 * Deno, is given back as it is.
 */
export async function formatted(path: string, text: string, cwd: string): Promise<string> {
  const [extension] = /(?<=\.)(?:ts|json|md|yaml)$/.exec(path) ?? [];
  const deno = findDeno();
  if (extension === undefined || deno === undefined) return text;
  const { code, stdout } = await run(deno, ["fmt", "--ext", extension, "-"], { cwd, input: text });
  return code === 0 ? stdout : text;
}

/** Formats all files of a project; without Deno they stay as they are. */
export async function formatAll(folder: string): Promise<void> {
  const deno = findDeno();
  if (deno !== undefined) await run(deno, ["fmt", "--quiet"], { cwd: folder });
}
