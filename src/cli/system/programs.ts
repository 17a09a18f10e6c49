/**
 * Other programs: git, and Deno, which formats generated code and runs projects.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
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
  /** Kills it; default never. */
  readonly signal?: AbortSignal | undefined;
}

/** Finds a program on the PATH. */
export function findOnPath(program: string): string | undefined {
  const name = process.platform === "win32" ? `${program}.exe` : program;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/**
 * Runs a program to its end, and gives what it wrote. One that is aborted has ended when this settles.
 *
 * @throws {Error} if it cannot be run
 */
export function run(
  [program, ...args]: readonly [program: string, ...args: string[]],
  { cwd, input = "", env = process.env, signal }: RunOptions,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const child = spawn(program, args, { cwd, env, stdio: "pipe" });
    const kill = () => child.kill("SIGKILL");
    signal?.addEventListener("abort", kill);
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => stdout += chunk);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => stderr += chunk);
    child.once("error", reject).once("close", (code) => {
      signal?.removeEventListener("abort", kill);
      resolve({ code, stdout, stderr });
    });
    child.stdin.on("error", () => {}); // it may end before it has read all
    child.stdin.end(input);
  });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

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
