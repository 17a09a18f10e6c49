/**
 * The runs after which a job is a dead letter if its worker is lost.
 *
 * @module
 */
import type { ClaimedJob, ClaimedKind, JobEngine } from "../engine.ts";
import type { Runs } from "./runs.ts";

/** What last runs need. */
export interface LastRunsOptions {
  /** The jobs. */
  readonly engine: JobEngine;
  /** The runs of the process. */
  readonly runs: Runs;
  /** The kinds whose jobs are claimed. */
  readonly kinds: readonly ClaimedKind[];
  /** How many runs of a job may be lost before it is a dead letter. */
  readonly maxLostRuns: number;
}

/**
 * Makes the last run of a job be alone in its process, as it may end the process again: others would
 * share its fate, and be dead letters too. While it waits, it has no lease that could be lost.
 */
export class LastRuns {
  readonly #options: LastRunsOptions;
  /** The job that runs when all others have ended. */
  #next: ClaimedJob["info"] | undefined;

  /** Watches the runs of a process. */
  constructor(options: LastRunsOptions) {
    this.#options = options;
  }

  /** Whether no other run may begin. */
  get isWaiting(): boolean {
    const { runs } = this.#options;
    return this.#next !== undefined || runs.active().some(({ claimed }) => this.#isLast(claimed));
  }

  /** Returns the jobs that may begin; the others return to the queue. */
  async admit(claimed: readonly ClaimedJob[]): Promise<readonly ClaimedJob[]> {
    const { engine, runs } = this.#options;
    const isWaiting = this.isWaiting;
    const [first] = claimed.filter((job) => this.#isLast(job));
    const isAlone = claimed.length === 1 && runs.active().length === 0;
    if (first && !isAlone) this.#next ??= first.info;
    const admitted = claimed.filter((job) => !isWaiting && (isAlone || !this.#isLast(job)));
    for (const job of claimed) {
      if (!admitted.includes(job)) await engine.end(job, { state: "released" });
    }
    return admitted;
  }

  /** Claims the job that waits for all others, unless another worker has, when they have ended. */
  async begin(): Promise<void> {
    const { engine, runs, kinds } = this.#options;
    const next = this.#next;
    if (!next || runs.active().length > 0) return;
    const kind = kinds.find(({ name }) => name === next.name)!; // it was claimed
    const claimed = await engine.claimOne(kind, next.id);
    if (claimed) void runs.begin(claimed);
    this.#next = undefined;
  }

  #isLast({ lost }: ClaimedJob): boolean {
    return lost > 0 && lost >= this.#options.maxLostRuns;
  }
}
