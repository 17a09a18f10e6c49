/**
 * The options of a job that is enqueued.
 *
 * @module
 */
import { checkNames, type Refuse, refusing } from "../platform/option_names.ts";

/** Options of `enqueue`. */
export interface EnqueueOptions {
  /** When it is due; at once by default. It runs when a worker is free after that. */
  readonly runAt?: Date | undefined;
  /** The priority, a whole number; that of its kind by default. */
  readonly priority?: number | undefined;
  /**
   * A key of 1 to 150 characters: at most one job of the kind with this key has not ended. If there
   * is one, nothing is enqueued, and its id is returned. A transaction that enqueues the same key
   * as another one waits for its end.
   */
  readonly singleton?: string | undefined;
  /**
   * The group, of 1 to 150 characters. The jobs of a kind in a group run one at a time, in the
   * order in which they were enqueued: each waits until the one before it has ended, its delay and
   * its retries included. The order of jobs of concurrent transactions is undefined.
   */
  readonly group?: string | undefined;
}

/** The longest key, in UTF-16 units: with the name of a kind, a column of MySQL can index it. */
export const MAX_KEY_LENGTH = 150;

/**
 * Checks the options of a job.
 *
 * @throws {TypeError} if one is unknown or invalid
 * @throws {RangeError} if the priority is not a whole number
 */
export function checkEnqueueOptions(options: EnqueueOptions, name: string): void {
  const refuse: Refuse = refusing(`enqueue ${name}`);
  checkNames(options, { known: ["runAt", "priority", "singleton", "group"], refuse });
  const { runAt, priority = 0 } = options;
  if (runAt !== undefined && !(runAt instanceof Date && Number.isFinite(runAt.getTime()))) {
    refuse("runAt is not a valid date");
  }
  if (!Number.isSafeInteger(priority)) {
    throw new RangeError(`Cannot enqueue ${name}: priority is not a whole number`);
  }
  for (const key of ["singleton", "group"] as const) {
    const value: unknown = options[key];
    if (value === undefined) continue;
    if (typeof value !== "string" || value.length < 1 || value.length > MAX_KEY_LENGTH) {
      refuse(`${key} is not a text of 1 to ${MAX_KEY_LENGTH} characters`);
    }
  }
}
