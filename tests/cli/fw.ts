/** Runs the command line in another process, on the runtime that runs the tests. */
import { join } from "node:path";
import process from "node:process";
import { type Outcome, run } from "../../src/cli/system/programs.ts";
import { ROOT } from "../support/project.ts";

/** Options of {@linkcode fw}. */
export interface FwOptions {
  /** The working directory. */
  readonly cwd: string;
  /** Variables in addition to those of this process; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The input on stdin. */
  readonly input?: string;
}

/** The program and the arguments before those of the command line. */
export const FW: readonly [string, ...string[]] = [
  process.execPath,
  ..."Deno" in globalThis ? ["run", "-A", "--quiet"] : [],
  join(ROOT, "src/cli/mod.ts"),
];

/** Runs `fw` with the words of a command. */
export function fw(command: string | readonly string[], options: FwOptions): Promise<Outcome> {
  const words = typeof command === "string" ? command.split(" ").filter(Boolean) : command;
  const env = { ...process.env, NO_COLOR: "1", ...options.env };
  return run([...FW, ...words], { ...options, env });
}
