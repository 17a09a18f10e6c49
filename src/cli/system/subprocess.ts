/**
 * Other programs.
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
