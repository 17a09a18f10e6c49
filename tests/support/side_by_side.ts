/**
 * Runs commands side by side: much of what gates and tests do is to wait, so that one command at a time
 * leaves cores idle.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { ROOT } from "./project.ts";

/** A command of the project. */
export interface Command {
  /** The program and its arguments. */
  readonly words: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** What became of a command. */
export interface Ending {
  /** Its exit code, `null` if it was not started, or was ended by a signal. */
  readonly status: number | null;
  /** All that it wrote on stdout, then all on stderr. */
  readonly output: string;
  /** How long it ran. */
  readonly seconds: number;
}

/** Starts commands in their order, so many at once; gives how each ends. */
export function runSideBySide(
  commands: readonly Command[],
  { atOnce = 2 }: { readonly atOnce?: number } = {},
): readonly Promise<Ending>[] {
  const endings = commands.map(() => Promise.withResolvers<Ending>());
  const waiting = commands.entries();
  async function lane(): Promise<void> {
    for (const [i, command] of waiting) endings[i]?.resolve(await run(command));
  }
  for (let i = 0; i < atOnce; i++) lane();
  return endings.map(({ promise }) => promise);
}

async function run({ words: [file = "", ...args], env = {} }: Command): Promise<Ending> {
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 1000);
  const child = spawn(file, args, {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
  try {
    const [status] = await once(child, "close");
    return { status, output: stdout + stderr, seconds: seconds() };
  } catch (error) {
    return { status: null, output: String(error), seconds: seconds() };
  }
}
