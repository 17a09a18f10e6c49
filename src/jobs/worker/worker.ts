/**
 * The worker of a process: claims jobs and runs their handlers.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { WorkersStop } from "../../core/module/lifecycle.ts";
import { within } from "../../platform/time_limit.ts";
import type { ClaimedJob, ClaimedKind } from "../engine.ts";
import type { DeliveredJob, JobRelay } from "../relay/relay.ts";
import { turn } from "./done_runs.ts";
import { HandOver } from "./hand_over.ts";
import { Heartbeats } from "./heartbeats.ts";
import { planning, type RunOutcome, Runs, type RunsOptions } from "./runs.ts";
import { WakeUp } from "./wake_up.ts";

/** Options of a {@linkcode Worker}. */
export interface WorkerOptions extends Omit<RunsOptions, "changed"> {
  /** How many jobs run at a time; 10 by default, or fewer, so that a connection is left. */
  readonly concurrency?: number;
  /** How often to look for jobs of other processes, in milliseconds. */
  readonly pollMs: number;
  /** After how long without a heartbeat a run counts as lost, in milliseconds. */
  readonly leaseMs: number;
  /** How many runs of a job may be lost before it is a dead letter. */
  readonly maxLostRuns: number;
  /** How long jobs are kept that are done or cancelled, in milliseconds. */
  readonly keepMs: number;
  /** The queue that delivers jobs, if there is one; else the worker claims those of the table. */
  readonly relay?: JobRelay;
}

/** How many jobs run at a time by default. */
const CONCURRENCY = 10;
/** The fraction of the time of a stop after which the signals of runs are aborted. */
const ABORT_AFTER = 0.8;

/** Claims and runs jobs. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #runs: Runs;
  readonly #wakeUp = new WakeUp();
  readonly #heartbeats: Heartbeats;
  readonly #concurrency: number;
  readonly #handOver: HandOver | undefined;
  /** The runs of jobs of the queue, their claims included. */
  readonly #deliveries = new Set<Promise<void>>();
  /** The kinds of the handlers, which alone are claimed. */
  readonly #kinds: readonly ClaimedKind[];
  #loop: Promise<void> | undefined;
  #isStopping = false;
  #runsJobs = false;

  /** Prepares a worker. */
  constructor(options: WorkerOptions) {
    this.#options = options;
    const { concurrency, relay, engine: { maxHandlers } } = options;
    this.#concurrency = concurrency ?? Math.max(1, Math.min(CONCURRENCY, maxHandlers));
    this.#runs = new Runs({ ...options, changed: () => this.wake() });
    this.#kinds = Array.from(
      options.handlers,
      ([name, { job: { settings: { globalConcurrency } } }]) => ({ name, globalConcurrency }),
    );
    this.#heartbeats = new Heartbeats({ ...options, runs: () => this.#runs.active() });
    this.#handOver = relay && new HandOver({
      ...options,
      relay,
      kinds: this.#kinds,
      concurrency: this.#concurrency,
      run: (job) => this.#deliver(job),
    });
  }

  /**
   * Starts to look for jobs; without `runsJobs`, only to hand them over to the relay, if there is
   * one. Later calls have no effect, except for the first one with `runsJobs`.
   */
  async start({ runsJobs = true }: { readonly runsJobs?: boolean } = {}): Promise<void> {
    if (this.#isStopping) return;
    if (this.#handOver) await this.#handOver.open();
    if (this.#isStopping) return;
    if (runsJobs && !this.#runsJobs) this.#startRuns();
    if (runsJobs || this.#handOver) this.#loop ??= this.#work();
  }

  #startRuns(): void {
    this.#runsJobs = true;
    const concurrency = this.#concurrency;
    if (concurrency > this.#options.engine.maxHandlers) {
      const reason = "transactions of handlers can hold all connections, and no run would beat";
      logger().warn("concurrency {concurrency} is not below poolMax: {reason}", {
        concurrency,
        reason,
      });
    }
    this.#heartbeats.start();
    this.#handOver?.consume();
  }

  /** Looks for jobs now. */
  wake(): void {
    this.#wakeUp.wake();
  }

  /**
   * Claims no more jobs, and waits for the runs. When four fifths of the time are over, their
   * signals are aborted; the jobs of runs that have not ended at its end return to the queue. If
   * the process ends because of an error, they are lost, as one of them may be its cause.
   */
  async stop({ drainMs, hasFailed = false }: WorkersStop): Promise<void> {
    const endMs = performance.now() + drainMs;
    const leftMs = () => Math.max(0, endMs - performance.now());
    this.#isStopping = true;
    this.#handOver?.pause();
    this.wake();
    const ended = this.#allEnded();
    if (!await within(ended, drainMs * ABORT_AFTER)) {
      for (const run of this.#runs.active()) run.abort(hasFailed ? "crashed" : "stopped");
      await within(ended, leftMs());
    }
    try {
      if (!hasFailed) await this.#runs.release();
    } finally {
      // also if the database is away
      if (this.#runsJobs) await this.#heartbeats.stop();
      await this.#handOver?.close(leftMs());
    }
  }

  /** Runs the jobs that are due, one after another, until there are none; returns the outcomes. */
  async drain(): Promise<readonly RunOutcome[]> {
    const outcomes: RunOutcome[] = [];
    await this.#options.planner.plan();
    this.#heartbeats.start();
    try {
      for (;;) {
        await this.#options.engine.promote();
        const [claimed] = await this.#claim(1);
        if (!claimed) return outcomes;
        outcomes.push(await this.#runs.begin(claimed));
      }
    } finally {
      await this.#heartbeats.stop();
    }
  }

  async #work(): Promise<void> {
    const { pollMs, engine, planner } = this.#options;
    await planning(() => planner.plan());
    let promotedMs = -Infinity;
    let isFull = false;
    while (!this.#isStopping) {
      const free = this.#runs.free(this.#concurrency);
      let waitMs = pollMs * (0.9 + Math.random() / 5); // so that processes do not poll together
      try {
        // while jobs wait, those that are due are looked for as often as those of others
        const looks = performance.now() - promotedMs >= pollMs ||
          !(await this.#handOver?.hasEnough() ?? isFull);
        if (looks) {
          waitMs = Math.min(waitMs, await engine.promote() ?? waitMs);
          promotedMs = performance.now();
          await this.#handOver?.handOver();
        }
        if (!this.#handOver) isFull = await this.#claimAndBegin(free) === free;
      } catch (error) {
        logger().error("Jobs cannot be claimed: {error}", { error });
      }
      if (!this.#isStopping) await this.#wakeUp.within(waitMs);
      await turn(); // runs that end together leave their places together
    }
  }

  /** Begins runs of at most `take` jobs; returns how many. */
  async #claimAndBegin(take: number): Promise<number> {
    const claimed = await this.#claim(take);
    for (const each of claimed) void this.#runs.begin(each);
    return claimed.length;
  }

  #deliver(job: DeliveredJob): Promise<void> {
    const ended = this.#runDelivered(job).finally(() => this.#deliveries.delete(ended));
    this.#deliveries.add(ended);
    return ended;
  }

  /** Runs a job of the queue, unless it is not due, or another worker has it. */
  async #runDelivered({ id, name }: DeliveredJob): Promise<void> {
    const kind = this.#kinds.find((it) => it.name === name);
    if (!kind || this.#isStopping) return; // a process that handles it adds it again
    const claimed = await this.#options.engine.claimOne(kind, id);
    if (!claimed) return;
    if (this.#isStopping) await this.#options.engine.end(claimed, { state: "released" });
    else await this.#runs.begin(claimed);
  }

  async #claim(take: number): Promise<readonly ClaimedJob[]> {
    const { engine } = this.#options;
    const claimed = await engine.claim(this.#kinds, take);
    if (!this.#isStopping) return claimed;
    for (const each of claimed) await engine.end(each, { state: "released" });
    return [];
  }

  async #allEnded(): Promise<void> {
    await this.#loop;
    await Promise.allSettled(this.#deliveries); // the queue gets the errors of claims
    await this.#runs.ended();
  }
}

function logger() {
  return getLogger(["fw", "jobs"]);
}
