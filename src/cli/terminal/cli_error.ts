/**
 * How a command ends early: by a failure, or by a signal.
 *
 * @module
 */
import { constants } from "node:os";
import process from "node:process";
import { printable } from "./printable.ts";

/** A failure: its message is one line on stderr, the exit code 1. */
export class CliError extends Error {
  override readonly name = "CliError";
}

/** Returns the message of a thrown value, or a text, on one line and printable. */
export function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return printable(text.trim().replaceAll(/\s*[\n\r\u2028\u2029]\s*/g, "; "));
}

/** The signals that end a command. */
export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Thrown when a signal has ended a command, after clean-up. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  /** The exit code, as a shell reports it. */
  readonly exitCode: number;

  /** Creates one for a signal. */
  constructor(signal: (typeof SIGNALS)[number]) {
    super(`Interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** Thrown when a program that a command runs has failed and printed why. */
export class ProgramExit extends Error {
  override readonly name = "ProgramExit";
  /** The exit code. */
  readonly exitCode: number;

  /** Creates one for an exit code. */
  constructor(exitCode: number) {
    super(`The program has ended with exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** How long work that a signal has aborted may take to remove what it created. */
const CLEANING_MS = 20_000;

/**
 * Runs work that a signal aborts. It has to stop what it started, and remove what it created,
 * before it settles. `hurried` is aborted by a second signal, or 20 s after the first: then it has
 * to settle at once.
 *
 * @throws {Interruption} after a signal
 */
export async function interruptible<T>(
  work: (aborted: AbortSignal, hurried: AbortSignal) => Promise<T>,
): Promise<T> {
  const [first, second] = [new AbortController(), new AbortController()];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const interrupt = (signal: (typeof SIGNALS)[number]) => {
    if (first.signal.aborted) return second.abort();
    timer = setTimeout(() => second.abort(), CLEANING_MS);
    first.abort(new Interruption(signal));
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    const result = await work(first.signal, second.signal);
    first.signal.throwIfAborted();
    return result;
  } catch (error) {
    throw first.signal.aborted ? first.signal.reason : error;
  } finally {
    clearTimeout(timer);
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}
