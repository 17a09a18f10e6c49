/**
 * The heartbeats of the runs of a process, and the reclaiming of jobs of lost workers.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { ActiveRun } from "./active_run.ts";
import { MAX_BACKOFF_MS } from "../backoff.ts";
import type { JobEngine, RunningJob } from "../engine.ts";
import { LostRuns, MISSED_BEATS } from "./lost_runs.ts";
import type { Planner } from "../schedules/planner.ts";
import { WakeUp } from "./wake_up.ts";

/** The part of an engine that heartbeats use. */
type Beats = Pick<JobEngine, "now" | "beat" | "running" | "reclaim" | "unblock" | "purge">;

/** Options of a {@linkcode Heartbeats}. */
export interface HeartbeatsOptions {
  /** The jobs. */
  readonly engine: Beats;
  /** After how long without a heartbeat a run counts as lost, in milliseconds. */
  readonly leaseMs: number;
  /** How many runs of a job may be lost before it is a dead letter. */
  readonly maxLostRuns: number;
  /** How long jobs are kept that are done or cancelled, in milliseconds. */
  readonly keepMs: number;
  /** Stores the occurrences of schedules that are missing. */
  readonly planner: Pick<Planner, "plan">;
  /** Returns the runs of this process. */
  readonly runs: () => readonly ActiveRun[];
}

/**
 * Stores heartbeats of the runs of this process, aborts those that are cancelled or were taken
 * over, and returns the jobs of lost workers to the queue. Each beat also stores the missing
 * occurrences of schedules, and removes old jobs.
 */
export class Heartbeats {
  readonly #options: HeartbeatsOptions;
  readonly #lost: LostRuns;
  readonly #wakeUp = new WakeUp();
  #isBeating = false;
  #underWay: Promise<void> | undefined;
  /** The number of callers that have started it and not stopped it. */
  #users = 0;

  /** Prepares heartbeats. */
  constructor(options: HeartbeatsOptions) {
    this.#options = options;
    this.#lost = new LostRuns(options);
  }

  /** Starts to beat, until it is stopped as often as it was started. */
  start(): void {
    if (this.#users++ === 0 && !this.#isBeating) void this.#run();
  }

  /** Stops, after the beat under way. */
  async stop(): Promise<void> {
    if (--this.#users > 0) return;
    this.#wakeUp.wake();
    await this.#underWay;
  }

  async #run(): Promise<void> {
    this.#isBeating = true;
    for (;;) {
      await this.#wakeUp.within(this.#options.leaseMs / MISSED_BEATS);
      if (this.#users === 0) break;
      this.#underWay = this.#beat().catch((error) => {
        getLogger(["fw", "jobs"]).error("A heartbeat has failed: {error}", { error });
      });
      await this.#underWay;
    }
    this.#isBeating = false;
  }

  async #beat(): Promise<void> {
    const { engine, planner, runs } = this.#options;
    const own = runs();
    await engine.beat(own.map(({ claimed }) => claimed));
    const running = await engine.running();
    for (const run of own) {
      const stored = running.find((it) => isOf(it, run));
      if (!stored) run.abort("lost"); // unless it has just ended
      else if (stored.cancelling) run.abort("cancelled");
    }
    const others = running.filter((it) => !own.some((run) => isOf(it, run)));
    for (const lost of this.#lost.note(others)) await this.#reclaim(lost);
    await planner.plan();
    await engine.unblock();
    await this.#purge();
  }

  /** Removes old jobs, until half of the time to the next beat is over. */
  async #purge(): Promise<void> {
    const { engine, keepMs, leaseMs } = this.#options;
    const before = new Date(engine.now() - keepMs);
    const endMs = performance.now() + leaseMs / MISSED_BEATS / 2;
    while (await engine.purge({ states: ["done", "cancelled"], before }) > 0) {
      if (this.#users === 0 || performance.now() >= endMs) return;
    }
  }

  async #reclaim(run: RunningJob): Promise<void> {
    const { engine, maxLostRuns, leaseMs } = this.#options;
    const count = run.lost + 1;
    const isDead = count > maxLostRuns;
    const next = isDead
      ? { deadBecause: `the workers of ${count} runs were lost` }
      : { waitMs: waitAfterLoss(count, leaseMs) };
    if (!await engine.reclaim(run, next)) return;
    const { name } = run;
    const where = isDead ? "is a dead letter" : "returns to the queue";
    getLogger(["fw", "jobs"]).warn(`The worker of a job {name} was lost: it ${where}`, { name });
  }
}

/**
 * Returns how long a job waits after its worker was lost, in milliseconds. If that has happened
 * before, it may have ended its process itself: the waits grow, and are random, so that jobs that
 * were lost with it seldom run beside it again.
 */
function waitAfterLoss(count: number, leaseMs: number): number {
  if (count === 1) return 0;
  return Math.ceil(Math.random() * Math.min(MAX_BACKOFF_MS, leaseMs * 2 ** count));
}

function isOf({ seq, lease }: RunningJob, { claimed }: ActiveRun): boolean {
  return claimed.seq === seq && claimed.lease === lease;
}
