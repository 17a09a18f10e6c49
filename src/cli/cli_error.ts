/**
 * What the command line tells its user when it cannot do what was asked.
 *
 * @module
 */

/** A failure with a message for the user: one line on stderr, and exit code 1. */
export class CliError extends Error {
  override readonly name = "CliError";
  /** The exit code: 1 for what cannot be done, 2 for a command that is not understood. */
  readonly exitCode: 1 | 2;

  /** Creates a failure. */
  constructor(message: string, { exitCode = 1, ...options }: CliErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Options of {@linkcode CliError}. */
export interface CliErrorOptions extends ErrorOptions {
  /** The exit code; default 1. */
  readonly exitCode?: 1 | 2;
}

/** Gives the message of whatever was thrown, on one line. */
export function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().replaceAll(/\s*\n\s*/g, "; ");
}
