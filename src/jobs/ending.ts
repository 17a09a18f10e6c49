/**
 * How a handler of the framework ends its run otherwise than by returning, or by an error.
 *
 * @module
 */
import type { RunEnd } from "./engine.ts";

/** A failure, after which the job has another priority if it is retried. */
export interface Failure {
  /** The state of the run. */
  readonly state: "failed";
  /** Why it has failed. */
  readonly error: Error;
  /** The priority of the job from now on. */
  readonly priority: number;
}

/** Thrown by a handler to end its run. */
export class Ending {
  /** How the run ends. */
  readonly end: RunEnd | Failure;

  /** Ends a run. */
  constructor(end: RunEnd | Failure) {
    this.end = end;
  }
}
