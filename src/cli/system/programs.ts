/**
 * Other programs, such as Deno, which formats generated code and runs projects.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";

/** The result of a process. */
export interface Outcome {
  /** The exit code; `null` if a signal ended it. */
  readonly code: number | null;
  /** Its output on stdout. */
  readonly stdout: string;
  /** Its output on stderr. */
  readonly stderr: string;
}

/** Options of {@linkcode run}. */
export interface RunOptions {
  /** The working directory. */
  readonly cwd: string;
  /** The input on stdin; default none. */
  readonly input?: string;
  /** The environment; default that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Kills it; default never. */
  readonly signal?: AbortSignal | undefined;
  /** Receives whole lines of its output as soon as it writes them; default none. */
  readonly onLines?: ((lines: string, stream: "stdout" | "stderr") => void) | undefined;
  /** Makes it stop by SIGTERM; default never. */
  readonly stop?: AbortSignal | undefined;
}

/** Finds a program on the PATH. */
export function findOnPath(program: string): string | undefined {
  const name = process.platform === "win32" ? `${program}.exe` : program;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/**
 * Runs a program, and returns its output. An aborted program has ended when this settles.
 *
 * @throws {Error} if it cannot be run
 */
export function run(
  [program, ...args]: readonly [program: string, ...args: string[]],
  { cwd, input = "", env = process.env, onLines, signal, stop }: RunOptions,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    for (const each of [signal, stop]) each?.throwIfAborted();
    const child = spawn(program, args, { cwd, env, stdio: "pipe" });
    const kill = () => child.kill("SIGKILL");
    signal?.addEventListener("abort", kill);
    const terminate = () => void sendSignal(child.pid, "SIGTERM");
    stop?.addEventListener("abort", terminate);
    const output = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      let line = "";
      child[name].setEncoding("utf8").on("data", (chunk: string) => {
        output[name] += chunk;
        const end = chunk.lastIndexOf("\n") + 1;
        if (end > 0) onLines?.(line + chunk.slice(0, end), name);
        line = (end > 0 ? "" : line) + chunk.slice(end);
      }).on("end", () => line && onLines?.(`${line}\n`, name));
    }
    child.once("error", reject).once("close", (code) => {
      signal?.removeEventListener("abort", kill);
      stop?.removeEventListener("abort", terminate);
      resolve({ code, ...output });
    });
    child.stdin.on("error", () => {}); // it may end before it has read its input
    child.stdin.end(input);
  });
}

/**
 * Sends a signal to a process, unless it has ended. `ChildProcess.kill` of Deno sends one signal at
 * most, and then reports the process as ended.
 */
export function sendSignal(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // it has ended
  }
}

/** A file to format. */
export interface Unformatted {
  /** The path, whose extension is that of the language. */
  readonly path: string;
  /** Its text. */
  readonly text: string;
}

/** Finds Deno: the runtime of this process, else the one on the PATH. */
export function findDeno(): string | undefined {
  return "Deno" in globalThis ? process.execPath : findOnPath("deno");
}

/** Returns the version of the Deno that runs projects, `undefined` without one. */
export async function denoVersion(cwd: string): Promise<string | undefined> {
  const deno = findDeno();
  if (deno === undefined) return undefined;
  const { stdout } = await run([deno, "--version"], { cwd });
  return /^deno (\S+)/.exec(stdout)?.[1];
}

/**
 * Formats a file with the settings of the project in a folder. Without Deno, or for a file that
 * Deno does not format, returns the text unchanged.
 */
export async function format({ path, text }: Unformatted, cwd: string): Promise<string> {
  const [extension] = /(?<=\.)(?:ts|json|md|yaml)$/.exec(path) ?? [];
  const deno = findDeno();
  if (extension === undefined || deno === undefined) return text;
  const outcome = await run([deno, "fmt", "--ext", extension, "-"], { cwd, input: text });
  return outcome.code === 0 ? outcome.stdout : text;
}

/** Formats all files of a project, if there is Deno. */
export async function formatAll(cwd: string, signal?: AbortSignal): Promise<void> {
  const deno = findDeno();
  if (deno !== undefined) await run([deno, "fmt", "--quiet"], { cwd, signal });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
