/**
 * The options of the runs of a kind of job.
 *
 * @module
 */
import { refusing } from "../platform/option_names.ts";
import type { Backoff } from "./backoff.ts";
import type { JobSettings } from "./job_kind.ts";
import { checkTimeLimits, checkWholeNumbers } from "./number_options.ts";

/** How the jobs of a kind run. */
export interface RunOptions {
  /** How many times a failed job runs again before it is a dead letter; default 3. */
  readonly retries?: number;
  /** How the wait before a retry grows; default `"exponential"`. */
  readonly backoff?: Backoff;
  /** The wait before the first retry in milliseconds; default 1000. */
  readonly backoffMs?: number;
  /** How long a run may take in milliseconds, below 2^31; default 15 minutes. */
  readonly timeoutMs?: number;
  /** The priority of its jobs, a whole number; the largest runs first. Default 0. */
  readonly priority?: number;
  /** How many of its jobs run at a time, in all processes together; no limit by default. */
  readonly globalConcurrency?: number;
}

/** The names of the options. */
export const RUN_OPTIONS: readonly (keyof RunOptions)[] = [
  ...["retries", "backoff", "backoffMs", "timeoutMs", "priority", "globalConcurrency"] as const,
];

/**
 * Checks the values of the options.
 *
 * @throws {TypeError} if one is invalid; `action` begins its message
 * @throws {RangeError} if a number is out of range
 */
export function checkRunOptions(options: RunOptions, action: string): void {
  const { backoff = "fixed" } = options;
  if (typeof backoff !== "function" && backoff !== "fixed" && backoff !== "exponential") {
    refusing(action)('backoff is not "exponential", "fixed" or a function');
  }
  const { retries, backoffMs, globalConcurrency, timeoutMs, priority = 0 } = options;
  checkWholeNumbers({ retries, backoffMs }, { least: 0, action });
  checkWholeNumbers({ globalConcurrency }, { least: 1, action });
  checkTimeLimits({ timeoutMs }, action);
  if (Number.isSafeInteger(priority)) return;
  throw new RangeError(`Cannot ${action}: priority is not a whole number`);
}

/** Returns the options with their defaults. */
export function settingsOf(options: RunOptions): JobSettings {
  return {
    retries: options.retries ?? 3,
    backoff: options.backoff ?? "exponential",
    backoffMs: options.backoffMs ?? 1000,
    timeoutMs: options.timeoutMs ?? 900_000,
    priority: options.priority ?? 0,
    globalConcurrency: options.globalConcurrency,
  };
}
