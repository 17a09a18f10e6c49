/**
 * How long a failed job waits for its next run.
 *
 * @module
 */

/**
 * How the wait grows: `"exponential"` doubles it each time, `"fixed"` does not change it. A
 * function receives the number of the failed run, from 1, and returns the milliseconds to wait; if
 * it throws, or the result is not from 0 to a year, the wait is an hour.
 */
export type Backoff = "exponential" | "fixed" | ((attempt: number) => number);

/** Options of {@linkcode waitAfter}. */
export interface BackoffOptions {
  /** How the wait grows. */
  readonly backoff: Backoff;
  /** The first wait in milliseconds. */
  readonly backoffMs: number;
  /** Returns a number from 0 to below 1. */
  readonly random?: () => number;
}

/** The longest wait of an exponential backoff, in milliseconds: an hour. */
export const MAX_BACKOFF_MS = 3_600_000;

/** The longest wait that a function may return, in milliseconds: a year. */
const MAX_CUSTOM_MS = 366 * 24 * 3_600_000;

/**
 * Returns how many milliseconds to wait after a failed run. With jitter, jobs that have failed
 * together do not run together: an exponential wait is between its half and its whole, a fixed one
 * is up to a tenth longer.
 */
export function waitAfter(
  attempt: number,
  { backoff, backoffMs, random = Math.random }: BackoffOptions,
): number {
  if (typeof backoff === "function") return waitOf(() => backoff(attempt));
  if (backoff === "fixed") return backoffMs * (1 + random() / 10);
  return Math.min(MAX_BACKOFF_MS, backoffMs * 2 ** (attempt - 1)) * (0.5 + random() / 2);
}

/** Returns the result of a function; an hour if it throws, or the result is out of range. */
function waitOf(backoff: () => number): number {
  try {
    const ms = backoff();
    return Number.isFinite(ms) && ms >= 0 && ms < MAX_CUSTOM_MS ? ms : MAX_BACKOFF_MS;
  } catch {
    return MAX_BACKOFF_MS;
  }
}
