/** Compiling TypeScript as users of the runtime do that runs the tests: `deno check`, or `tsc`. */
import { spawnSync } from "node:child_process";
import { relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** What the compiler has against a file. */
export interface CompileError {
  /** The file, relative to the folder. */
  readonly file: string;
  /** Such as `TS2322`. */
  readonly code: string;
  /** All lines of the message. */
  readonly message: string;
}

const DENO = /^(?<code>TS\d+) \[ERROR\]: (?<message>[^]*?)\n +at (?<file>file:\S+?):\d+:\d+$/gm;
const TSC = /^(?<file>\S+)\(\d+,\d+\): error (?<code>TS\d+): (?<message>.*(?:\n .*)*)/gm;

/** Compiles all files of a folder, which configures both compilers; returns their errors. */
export function compile(folder: string): readonly CompileError[] {
  const isDeno = "Deno" in globalThis;
  const args = isDeno ? ["check", "--quiet", "."] : ["node_modules/.bin/tsc", "--pretty", "false"];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const output = stdout + stderr;
  const errors = [...output.matchAll(isDeno ? DENO : TSC)].map(({ groups = {} }) => {
    const { file = "", code = "", message = "" } = groups;
    return { file: isDeno ? withinFolder(folder, file) : file, code, message };
  });
  if ((status === 0) !== (errors.length === 0)) {
    throw new Error(`Cannot read what the compiler says (it ended with ${status}): ${output}`);
  }
  return errors;
}

function withinFolder(folder: string, url: string): string {
  return relative(folder, fileURLToPath(url)).replaceAll(sep, "/");
}
