/**
 * What the command line tells its user when it cannot do what was asked.
 *
 * @module
 */

/** A failure with a message for the user: one line on stderr, and exit code 1. */
export class CliError extends Error {
  override readonly name = "CliError";
}

/** Gives the message of whatever was thrown, on one line. */
export function lineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().replaceAll(/\s*\n\s*/g, "; ");
}
