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

/** How commands run side by side. */
export interface SideBySideOptions {
  /** How many run at once; default 2. */
  readonly atOnce?: number;
  /** After how many minutes a command is ended; default never. */
  readonly maxMinutes?: number;
}

/** Starts commands in their order, so many at once; gives how each ends. */
export function runSideBySide(
  commands: readonly Command[],
  { atOnce = 2, maxMinutes = Infinity }: SideBySideOptions = {},
): readonly Promise<Ending>[] {
  const endings = commands.map(() => Promise.withResolvers<Ending>());
  const waiting = commands.entries();
  async function lane(): Promise<void> {
    for (const [i, command] of waiting) endings[i]?.resolve(await run(command, maxMinutes));
  }
  for (let i = 0; i < atOnce; i++) lane();
  return endings.map(({ promise }) => promise);
}

async function run(
  { words: [file = "", ...args], env = {} }: Command,
  maxMinutes: number,
): Promise<Ending> {
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
  const over = Promise.withResolvers<Ending>();
  const timer = Number.isFinite(maxMinutes) && setTimeout(() => {
    child.kill(); // npx passes the signal on; what does not end on it is not waited for
    const why = `\nIt was ended after ${maxMinutes} minutes.\n`;
    over.resolve({ status: null, output: stdout + stderr + why, seconds: seconds() });
  }, maxMinutes * 60_000);
  const ended = once(child, "close").then(
    ([status]) => ({ status, output: stdout + stderr, seconds: seconds() }),
    (error) => ({ status: null, output: String(error), seconds: seconds() }),
  );
  const ending = await Promise.race([ended, over.promise]);
  if (timer) clearTimeout(timer);
  return ending;
}
