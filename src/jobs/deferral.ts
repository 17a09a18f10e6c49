/**
 * How a handler of the framework makes its job run behind others.
 *
 * @module
 */

/**
 * Thrown by a handler: the job has another priority from now on. With a failure, its run has failed;
 * without one it returns to the queue, and its run does not count.
 */
export class Deferral {
  /** The priority of the job. */
  readonly priority: number;
  /** Why its run has failed; `undefined` if it has not. */
  readonly failure: Error | undefined;

  /** Defers a job. */
  constructor(priority: number, failure?: Error) {
    this.priority = priority;
    this.failure = failure;
  }
}
