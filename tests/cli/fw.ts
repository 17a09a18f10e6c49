/** Runs the command line in a process of its own, on the runtime that runs the tests. */
import { join } from "node:path";
import process from "node:process";
import { type Outcome, run } from "../../src/cli/system/programs.ts";
import { ROOT } from "../support/project.ts";

/** Options of {@linkcode fw}. */
export interface FwOptions {
  /** Where it runs. */
  readonly cwd: string;
  /** Variables beside those of this process; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What it reads from stdin. */
  readonly input?: string;
}

/** What runs the command line, before its arguments. */
export const FW: readonly [string, ...string[]] = [
  process.execPath,
  ..."Deno" in globalThis ? ["run", "-A", "--quiet"] : [],
  join(ROOT, "src/cli/mod.ts"),
];

/** Runs `fw` with the words of a command, to its end. */
export function fw(command: string | readonly string[], options: FwOptions): Promise<Outcome> {
  const words = typeof command === "string" ? command.split(" ").filter(Boolean) : command;
  const env = { ...process.env, NO_COLOR: "1", ...options.env };
  return run([...FW, ...words], { ...options, env });
}
