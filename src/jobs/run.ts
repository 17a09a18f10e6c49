/**
 * The run of a job that a handler receives.
 *
 * @module
 */
import type { JsonValue } from "../db/model/stored_value.ts";

/** A run of a job: the second argument of its handler. */
export interface Run {
  /**
   * The id of the job, a UUID: the same in each of its runs. Use it as an idempotency key, so that
   * several runs have one effect: insert a row where it is unique, or send it to the service that
   * the handler calls.
   */
  readonly id: string;
  /** The number of the run, from 1; runs that a stop has returned to the queue do not count. */
  readonly attempt: number;
  /** The priority of the job. */
  readonly priority: number;
  /** When the job was enqueued. */
  readonly enqueuedAt: Date;
  /**
   * Aborted when the run must end: after its time limit (`TimeoutError`), or if it is cancelled,
   * the process stops, or another worker has taken the job over (`AbortError`). Pass it to what the
   * handler awaits.
   */
  readonly signal: AbortSignal;
  /**
   * Stores the progress of the run, as JSON, for `jobs.find(id)`: at once, regardless of a
   * transaction that the caller is inside. On SQLite, which has one writer, it is part of the
   * transaction.
   *
   * @throws {DbError} if it cannot be stored
   */
  readonly progress: (value: JsonValue) => Promise<void>;
}
