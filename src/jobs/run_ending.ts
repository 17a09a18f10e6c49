/**
 * Lets a handler of the framework choose how its run ends.
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

/** Thrown by a handler whose run ends otherwise than by returning, or by an error. */
export class RunEnding {
  /** How the run ends. */
  readonly end: RunEnd | Failure;

  /** Creates what a handler throws. */
  constructor(end: RunEnd | Failure) {
    this.end = end;
  }

  /** Why the run has failed; `undefined` if it has not. */
  get failure(): Error | undefined {
    if (this.end.state === "failed") return this.end.error;
    return this.end.state === "dead" ? new Error(this.end.reason) : undefined;
  }
}
