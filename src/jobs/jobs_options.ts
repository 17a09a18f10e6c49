/**
 * The options of the jobs of an application.
 *
 * @module
 */
import { checkNames, type Refuse, refusing } from "../platform/option_names.ts";
import { checkedIdempotency, type IdempotencyOptions } from "./idempotency/idempotency_options.ts";
import { checkTimeLimits, checkWholeNumbers } from "./number_options.ts";
import type { JobRelay } from "./relay/relay.ts";

/** Options of `JobsModule.forRoot`. */
export interface JobsOptions {
  /**
   * How many jobs this process runs at a time; default 10, or `poolMax` of the database minus 1 if
   * that is less: heartbeats and the ends of runs need a connection while transactions of handlers
   * hold the others. The `globalConcurrency` of a kind limits all processes together.
   */
  readonly concurrency?: number;
  /**
   * How often to look for jobs of other processes, in milliseconds; default 1000. Those of this
   * process run at once. While all places are taken, it is also how often to look for jobs whose
   * `runAt` has come.
   */
  readonly pollMs?: number;
  /**
   * After how long without a heartbeat the worker of a run counts as lost, in milliseconds; default
   * 30 000. Then the job returns to the queue. It must be longer than a handler blocks the event
   * loop.
   */
  readonly leaseMs?: number;
  /**
   * How many runs of a job may be lost with their workers before it is a dead letter; default 5.
   * They do not count as retries, but a handler that ends its process must not run forever.
   */
  readonly maxLostRuns?: number;
  /**
   * How long jobs are kept that are done or cancelled, in milliseconds; default 24 hours. Dead
   * letters are kept.
   */
  readonly keepMs?: number;
  /**
   * Whether jobs run while the application serves HTTP (`listen`, `listenGraceful`); default
   * `true`. With `false` only `app.startWorkers()` runs them.
   */
  readonly whileServing?: boolean;
  /**
   * The queue that delivers jobs to the processes that run them, such as that of `bullmq()`; none
   * by default.
   */
  readonly relay?: JobRelay;
  /** How the answers of routes with `idempotent` are stored. */
  readonly idempotency?: IdempotencyOptions;
}

/** The options with their defaults, except that of `concurrency`, which the database decides. */
export type CheckedJobsOptions =
  & Required<Omit<JobsOptions, "concurrency" | "relay" | "idempotency">>
  & Pick<JobsOptions, "concurrency" | "relay">
  & { readonly idempotency: Required<IdempotencyOptions> };

/**
 * Returns the options with their defaults.
 *
 * @throws {TypeError} if one is unknown
 * @throws {RangeError} if one is out of range
 */
export function checkedOptions(options: JobsOptions): CheckedJobsOptions {
  const action = "use jobs";
  const refuse: Refuse = refusing(action);
  const known = [
    ...["concurrency", "pollMs", "leaseMs", "maxLostRuns", "keepMs", "whileServing"],
    ...["relay", "idempotency"],
  ];
  checkNames(options, { known, refuse });
  const checked = {
    ...options.concurrency !== undefined && { concurrency: options.concurrency },
    ...options.relay !== undefined && { relay: options.relay },
    pollMs: options.pollMs ?? 1000,
    leaseMs: options.leaseMs ?? 30_000,
    maxLostRuns: options.maxLostRuns ?? 5,
    keepMs: options.keepMs ?? 86_400_000,
    whileServing: options.whileServing ?? true,
    idempotency: checkedIdempotency(options.idempotency),
  };
  if (typeof checked.whileServing !== "boolean") refuse("whileServing is not a boolean");
  if (options.relay !== undefined && typeof options.relay?.open !== "function") {
    refuse("relay is not one, such as that of bullmq()");
  }
  const { concurrency, pollMs, leaseMs, maxLostRuns, keepMs } = checked;
  checkTimeLimits({ pollMs, leaseMs }, action);
  checkWholeNumbers({ concurrency }, { least: 1, action });
  checkWholeNumbers({ maxLostRuns, keepMs }, { least: 0, action });
  return checked;
}
