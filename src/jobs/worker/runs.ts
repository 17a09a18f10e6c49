/**
 * The runs of a process: calls the handlers of jobs that are claimed, and stores how they end.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { ActiveRun, type ActiveRunOptions } from "./active_run.ts";
import type { ClaimedJob, JobEngine, JobInfo, RunEnd } from "../engine.ts";
import type { JobHandler } from "../job_kind.ts";
import { DoneRuns } from "./done_runs.ts";
import type { JobMetrics } from "../telemetry/job_metrics.ts";
import type { Planner } from "../schedules/planner.ts";
import { outcomeOf } from "./run_outcome.ts";

/** What runs need. */
export interface RunsOptions {
  /** The jobs. */
  readonly engine: JobEngine;
  /** The handlers by the names of their kinds. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Stores the occurrences of schedules. */
  readonly planner: Planner;
  /** Counts runs. */
  readonly metrics: JobMetrics;
  /** Runs a handler, whose own jobs and events belong to the application. */
  readonly inApplication: ActiveRunOptions["inApplication"];
  /** Is called when the end of a run is being stored, and when it is. */
  readonly changed: () => void;
}

/**
 * The outcome of a run: the state of its job afterwards, `released` if it has returned to the
 * queue, or `lost` if another worker has it, or its end could not be stored.
 */
export type RunOutcome = "done" | "scheduled" | "dead" | "cancelled" | "released" | "lost";

/** The outcomes after which a job does not run again. */
const ENDS: ReadonlySet<RunOutcome> = new Set(["done", "dead", "cancelled"]);
/** How many times storing the end of a run is attempted. */
const STORE_ATTEMPTS = 6;
/** The wait after the first attempt in milliseconds; it doubles. */
const STORE_WAIT_MS = 200;

/** The runs of a process. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #runs = new Map<ActiveRun, Promise<RunOutcome>>();
  readonly #done: DoneRuns;
  /** The number of runs whose ends are being stored. */
  #ending = 0;

  /** Prepares runs. */
  constructor(options: RunsOptions) {
    this.#options = options;
    this.#done = new DoneRuns(options.engine);
  }

  /** Returns those that have not ended. */
  active(): readonly ActiveRun[] {
    return [...this.#runs.keys()];
  }

  /**
   * Returns how many more may begin where `concurrency` may run: one whose end is being stored
   * leaves its place to another, but not to more than one.
   */
  free(concurrency: number): number {
    return concurrency - this.#runs.size + Math.min(this.#ending, concurrency);
  }

  /** Resolves when those that have begun have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#runs.values());
  }

  /** Returns the jobs of those that have not ended to the queue. */
  async release(): Promise<void> {
    for (const { claimed } of this.#runs.keys()) {
      if (!await this.#options.engine.end(claimed, { state: "released" })) continue;
      const job = named(claimed.info);
      logger().warn("Job {name} {id} has not ended, and returns to the queue", job);
    }
  }

  /** Begins a run, whose handler there must be; returns its outcome. */
  begin(claimed: ClaimedJob): Promise<RunOutcome> {
    const { engine, handlers, planner, metrics, inApplication } = this.#options;
    const handler = handlers.get(claimed.info.name)!; // only their kinds are claimed
    const run = new ActiveRun(claimed, {
      handler,
      inApplication,
      async progress(value) {
        if (!await engine.progress(claimed, value)) run.abort("lost");
      },
    });
    const end = metrics.begin(claimed.info.name);
    const ended = this.#run(run, handler).then(async (outcome) => {
      end(outcome);
      if (ENDS.has(outcome)) await planning(() => planner.follow(claimed.info));
      return outcome;
    }).finally(() => {
      this.#runs.delete(run);
      this.#options.changed();
    });
    this.#runs.set(run, ended);
    return ended;
  }

  async #run(run: ActiveRun, { job }: JobHandler): Promise<RunOutcome> {
    const { claimed } = run;
    try {
      const result = await run.run();
      const { settings } = job;
      const now = this.#options.engine.now();
      const end = outcomeOf(result, { claimed, settings, now });
      this.#ending += 1;
      this.#options.changed();
      return await this.#end(run, end).finally(() => this.#ending -= 1);
    } catch (error) {
      // its lease ends by itself
      const properties = { ...named(claimed.info), error };
      logger().error("The end of job {name} {id} cannot be stored: {error}", properties);
      return "lost";
    }
  }

  async #end(run: ActiveRun, end: RunEnd | undefined): Promise<RunOutcome> {
    const { claimed } = run;
    const job = named(claimed.info);
    const { engine } = this.#options;
    const isStored = end !== undefined &&
      await storing(() =>
        end.state === "done" ? this.#done.end(claimed) : engine.end(claimed, end)
      );
    if (!isStored) {
      logger().warn(
        "Job {name} {id} is left to another worker: the end of this run has no effect",
        job,
      );
      return "lost";
    }
    if (end.state === "dead") {
      const properties = { ...job, reason: end.reason };
      logger().error("Job {name} {id} is a dead letter: {reason}", properties);
    } else if (end.state === "scheduled") {
      const properties = { ...job, reason: end.reason };
      logger().warn("Job {name} {id} has failed, and is retried: {reason}", properties);
    }
    return end.state;
  }
}

/** Stores the end of a run, again if the database fails. */
async function storing(store: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1;; attempt++) {
    try {
      return await store();
    } catch (error) {
      if (attempt === STORE_ATTEMPTS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, STORE_WAIT_MS * 2 ** (attempt - 1)));
  }
}

/** Stores occurrences of schedules; if it fails, the next heartbeat does it. */
export async function planning(plan: () => Promise<void>): Promise<void> {
  try {
    await plan();
  } catch (error) {
    logger().error("Schedules cannot be stored: {error}", { error });
  }
}

/** Returns the properties of a job in log lines, without its payload. */
function named({ name, id }: JobInfo): { readonly name: string; readonly id: string } {
  return { name, id };
}

function logger() {
  return getLogger(["fw", "jobs"]);
}
