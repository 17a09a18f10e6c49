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

/**
 * Runs work that a signal aborts. It has to stop what it started, and remove what it created,
 * before it settles.
 *
 * @throws {Interruption} after a signal
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
