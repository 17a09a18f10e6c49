/**
 * The relay of jobs to a queue outside of the database.
 *
 * @module
 */
import type { DueJob } from "../engine.ts";

/** A job that a queue has delivered. */
export type DeliveredJob = Pick<DueJob, "id" | "name">;

/** How the jobs of a queue run. */
export interface JobConsumer {
  /** How many run at a time in this process. */
  readonly concurrency: number;
  /** After how long without a sign of life the process counts as lost, in milliseconds. */
  readonly leaseMs: number;
  /** Claims a job and runs it, unless it is not due; settles when the run has ended. */
  readonly run: (job: DeliveredJob) => Promise<void>;
}

/**
 * A queue that delivers jobs to the processes of an application. The table of jobs decides whether
 * one runs, so the queue may lose jobs, deliver them twice, and reorder them.
 */
export interface JobQueue {
  /**
   * Adds jobs, without those that the queue has; returns their number.
   *
   * @throws {Error} if the queue cannot be reached
   */
  add(jobs: readonly DueJob[]): Promise<number>;
  /**
   * Returns how many jobs wait in the queue.
   *
   * @throws {Error} if the queue cannot be reached
   */
  count(): Promise<number>;
  /** Begins to run the jobs that the queue delivers. */
  consume(consumer: JobConsumer): void;
  /** Begins no more runs. */
  pause(): void;
  /** Closes the connections; waits for at most `limitMs` milliseconds for the last answers. */
  close(limitMs: number): Promise<void>;
}

/** Opens the queue of an application, such as that of {@linkcode bullmq}. */
export interface JobRelay {
  /** Loads the library and begins to connect, without waiting for the connection. */
  readonly open: () => Promise<JobQueue>;
}
