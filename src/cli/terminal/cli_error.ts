/**
 * How a command ends early: by a failure, or by a signal.
 *
 * @module
 */
import { constants } from "node:os";
import process from "node:process";

/** A failure with a message for the user: one line on stderr, and exit code 1. */
export class CliError extends Error {
  override readonly name = "CliError";
}

/** Gives the message of whatever was thrown, on one line. */
export function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().replaceAll(/\s*\n\s*/g, "; ");
}

/** The signals by which a user or a supervisor ends a command. */
export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Thrown when a signal has ended a command, once all is cleared away. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  /** The exit code that a shell gives to such an end. */
  readonly exitCode: number;

  /** Creates one for a signal. */
  constructor(signal: (typeof SIGNALS)[number]) {
    super(`Interrupted by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Does something that a signal aborts: what it has started is to end, and what it has made is to be
 * removed, before it settles.
 *
 * @throws {Interruption} if a signal came
 */
export async function interruptible<T>(work: (aborted: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (signal: (typeof SIGNALS)[number]) =>
    controller.abort(new Interruption(signal));
  for (const signal of SIGNALS) process.on(signal, interrupt);
  try {
    const result = await work(controller.signal);
    controller.signal.throwIfAborted();
    return result;
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}
