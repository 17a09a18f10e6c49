/**
 * The jobs of an application.
 *
 * @module
 */
import type { WorkersStop } from "../core/module/lifecycle.ts";
import type { JsonValue } from "../db/model/stored_value.ts";
import type { Meter } from "../platform/telemetry/meter.ts";
import { addJobs, type AmbientJobs, type Enqueued, runInApplication } from "./ambient.ts";
import { databaseIn, type JobsDatabase, type JobsDatabaseKey } from "./database.ts";
import { checkEnqueueOptions, type EnqueueOptions } from "./enqueue_options.ts";
import type { JobFilter, JobInfo, PurgeFilter, WaitingKind } from "./engine.ts";
import { Events } from "./events/events.ts";
import type { Job } from "./job.ts";
import { handlersIn } from "./handlers.ts";
import type { JobHandler, JobKind } from "./job_kind.ts";
import { keepJobContext } from "./telemetry/job_context.ts";
import { JobMetrics } from "./telemetry/job_metrics.ts";
import { activeParent } from "./telemetry/job_span.ts";
import { OutboxEngine } from "./outbox/outbox_engine.ts";
import { storedPayload } from "./payload.ts";
import { Planner } from "./schedules/planner.ts";
import type { RunOutcome } from "./worker/runs.ts";
import { Worker } from "./worker/worker.ts";
import { type CheckedJobsOptions, checkedOptions } from "./jobs_options.ts";

/** The largest `take` of a list. */
const MAX_TAKE = 1000;

/** Options of `health` of {@linkcode Jobs}. */
export interface JobsHealthOptions {
  /** How long the oldest job may wait, in milliseconds; above 0. */
  readonly maxAgeMs: number;
}

/** The parts of started jobs. */
interface Started {
  readonly engine: OutboxEngine;
  readonly handlers: ReadonlyMap<string, JobHandler>;
  readonly planner: Planner;
  readonly worker: Worker;
}

/**
 * The jobs of an application, provided by {@linkcode JobsModule}. They are available once the start
 * hooks run, to the hooks of providers that depend on them.
 */
export class Jobs {
  readonly #key: JobsDatabaseKey;
  readonly #options: CheckedJobsOptions;
  readonly #events: Events;
  readonly #metrics = new JobMetrics();
  #started: Started | undefined;
  #remove: (() => void) | undefined;

  /** Creates the jobs of a database; use {@linkcode JobsModule}. */
  constructor(
    key: JobsDatabaseKey,
    { events = new Events(), ...options }: CheckedJobsOptions & { readonly events?: Events },
  ) {
    this.#key = key;
    this.#options = options;
    this.#events = events;
  }

  /**
   * Returns the jobs of a database, for tools and scripts without an application. They have no
   * handlers, so they run none.
   *
   * @example
   * ```ts
   * import { DbOptions, DbService } from "@fw/fw/db";
   * import { Jobs, jobTables } from "@fw/fw/jobs";
   *
   * class Db extends DbService.with({ ...jobTables }) {}
   *
   * await using db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
   * await db.createTables();
   * const dead = await Jobs.of(db).list({ states: ["dead"] });
   * console.assert(dead.length === 0);
   * ```
   *
   * @throws {TypeError} if the database lacks the table of jobs
   */
  static of(db: JobsDatabase): Jobs {
    // the class of a service is the constructor of its instances
    const jobs = new Jobs(db.constructor as JobsDatabaseKey, checkedOptions({}));
    jobs.#use(db, []);
    return jobs;
  }

  /**
   * Enqueues a job of this application, as `enqueue` of its kind does; returns its id.
   *
   * @throws {TypeError} if the payload does not satisfy the schema, or an option is invalid
   * @throws {RangeError} if the priority is not a whole number
   * @throws {DbError} if it cannot be stored
   */
  async enqueue<Input>(
    job: Job<Input>,
    ...[body, options]: readonly [body: Input, options?: EnqueueOptions]
  ): Promise<string> {
    return await this.#enqueue(job, { body, options });
  }

  /** Returns a job, or `undefined` if it does not exist or was removed. */
  async find(id: string): Promise<JobInfo | undefined> {
    return await this.#require("find job").engine.find(id);
  }

  /**
   * Lists jobs, those that were enqueued last first. For the next page, set `before` to the id of
   * the last job of this one.
   *
   * @throws {RangeError} if `take` is not from 1 to 1000, or there is no job of the id `before`
   */
  async list({ take = 100, ...filter }: JobFilter = {}): Promise<readonly JobInfo[]> {
    if (!Number.isInteger(take) || take < 1 || take > MAX_TAKE) {
      throw new RangeError(`Cannot list jobs: take ${take} is not from 1 to ${MAX_TAKE}`);
    }
    checkTexts({ name: filter.name }, "list jobs");
    return await this.#require("list jobs").engine.list({ ...filter, take });
  }

  /**
   * Counts the jobs that wait and have no handler in this application, by their kinds: another
   * application handles them, or their kind was renamed.
   */
  async unhandled(): Promise<readonly WaitingKind[]> {
    const { engine, handlers } = this.#require("list jobs");
    return (await engine.waitingKinds()).filter(({ name }) => !handlers.has(name));
  }

  /**
   * Removes jobs that ended before a time, such as dead letters; returns how many. Those that are
   * done or cancelled are removed after `keepMs` in any case.
   */
  async purge(filter: PurgeFilter): Promise<number> {
    const { engine } = this.#require("purge jobs");
    checkTexts({ name: filter.name }, "purge jobs");
    let total = 0;
    for (;;) {
      const removed = await engine.purge(filter);
      if (removed === 0) return total;
      total += removed;
    }
  }

  /** Lists the jobs of a kind that wait, in the order in which they were enqueued. */
  async enqueued(kind: { readonly name: string }): Promise<readonly JobInfo[]> {
    return await this.#require("list jobs").engine.enqueued(kind.name);
  }

  /**
   * Cancels a job: one that waits does not run; the signal of one that runs is aborted, at the next
   * heartbeat of its worker. Returns `false` if it has ended.
   */
  async cancel(id: string): Promise<boolean> {
    checkTexts({ id }, "cancel job");
    return await this.#require("cancel job").engine.cancel(id);
  }

  /**
   * Makes a dead letter, or a cancelled job, ready again, with all of its retries and without its
   * singleton key. Returns `false` if it is neither.
   */
  async retry(id: string): Promise<boolean> {
    const { engine, worker } = this.#require("retry job");
    checkTexts({ id }, "retry job");
    const isReady = await engine.retry(id);
    if (isReady) await engine.afterCommit(() => worker.wake());
    return isReady;
  }

  /**
   * Returns a health indicator for `app.enableHealthCheck()`: down while the oldest job that is due
   * has waited longer than `maxAgeMs`, such as when no worker runs, or too few.
   *
   * @example
   * ```ts
   * import type { FwApplication } from "@fw/fw";
   * import { Jobs } from "@fw/fw/jobs";
   *
   * function checkHealth(app: FwApplication): void {
   *   const jobs = app.get(Jobs).health({ maxAgeMs: 300_000 });
   *   app.enableHealthCheck("/ready", { indicators: { jobs } });
   * }
   * ```
   *
   * @throws {RangeError} if `maxAgeMs` is not positive
   */
  health({ maxAgeMs }: JobsHealthOptions): () => Promise<boolean> {
    if (!(maxAgeMs > 0)) {
      throw new RangeError(`Cannot check jobs: maxAgeMs ${maxAgeMs} is not positive`);
    }
    return async () => {
      const ms = await this.oldestMs();
      if (ms <= maxAgeMs) return true;
      throw new Error(`The oldest job has waited for ${ms} ms`);
    };
  }

  /**
   * Returns how long the oldest job that is due has waited, in milliseconds; 0 if no job is due. It
   * is a measure of the load, for health checks and alerts.
   */
  async oldestMs(): Promise<number> {
    const { engine } = this.#require("read jobs");
    const dueAt = await engine.oldest();
    return dueAt === undefined ? 0 : Math.max(0, engine.now() - dueAt);
  }

  /**
   * Runs the jobs that are due, one after another, until there are none, for tests and scripts;
   * returns the outcome of each run. It also waits for the event handlers of this process.
   *
   * @throws {TypeError} inside a transaction
   */
  async drain(): Promise<readonly RunOutcome[]> {
    const { engine, worker } = this.#require("run jobs");
    if (engine.isInTransaction) throw new TypeError("Cannot run jobs: a transaction is open");
    const outcomes: RunOutcome[] = [];
    for (;;) {
      await this.#events.settled();
      const ended = await worker.drain();
      if (ended.length === 0) return outcomes;
      outcomes.push(...ended);
    }
  }

  /**
   * Finds the database and the handlers among the instances of the application.
   *
   * @throws {TypeError} if the database is missing or lacks the table of jobs, two handlers are of
   * the same kind, or a schedule is invalid
   */
  async onModuleInit(instances: readonly object[] = []): Promise<void> {
    const db = databaseIn(instances, { key: this.#key, action: "use jobs" });
    keepJobContext();
    const ambient = this.#use(db, instances);
    await this.#require("run schedules").planner.load();
    this.#remove = addJobs(ambient);
  }

  /**
   * Starts the worker, unless only `app.startWorkers()` does (`whileServing`): then a relay hands
   * over jobs that others run.
   *
   * @throws {TypeError} if a package of the relay is not installed
   */
  async onWorkersStart({ isServing }: { readonly isServing: boolean }): Promise<void> {
    const runsJobs = !isServing || this.#options.whileServing;
    await this.#require("run jobs").worker.start({ runsJobs });
  }

  /** Creates the metrics of jobs. */
  onMetrics(meter: Meter): void {
    const kinds = this.#require("count jobs").handlers.keys();
    this.#metrics.publish(meter, { kinds, oldestMs: () => this.oldestMs() });
  }

  /** Stops the worker. */
  async onWorkersStop(stop: WorkersStop): Promise<void> {
    await this.#started?.worker.stop(stop);
  }

  /** Removes the application from those that `enqueue` of a kind finds. */
  onModuleDestroy(): void {
    this.#remove?.();
  }

  #use(db: JobsDatabase, instances: readonly object[]): AmbientJobs {
    const engine = new OutboxEngine(db, this.#options);
    const handlers = handlersIn(instances);
    const planner = new Planner({ ...this.#options, store: engine.schedules, handlers });
    const ambient: AmbientJobs = {
      isInTransaction: () => engine.isInTransaction,
      enqueue: (kind, job) => this.#enqueue(kind, job),
      publish: (event, body) => this.#events.publishKind(event, body),
    };
    const inApplication = <T>(handle: () => T) => runInApplication(ambient, handle);
    this.#events.start({
      inTransaction: (run) => engine.inTransaction(run),
      during: (work) => engine.during(work),
      afterCommit: (callback) => engine.afterCommit(callback),
      enqueue: (kind, { kind: { schema }, body }) =>
        kind.schema === schema
          ? this.#store(kind, { body })
          : this.#enqueue(kind, { body, options: undefined }),
      inApplication,
    }, instances);
    const worker = new Worker({
      ...this.#options,
      engine,
      handlers,
      planner,
      metrics: this.#metrics,
      inApplication,
    });
    this.#started = { engine, handlers, planner, worker };
    return ambient;
  }

  async #enqueue(kind: JobKind, { body, options = {} }: Enqueued): Promise<string> {
    const { name, schema } = kind;
    const action = `enqueue ${name}`;
    const { engine } = this.#require(action);
    checkEnqueueOptions(options, name);
    return await engine.during(async () =>
      await this.#store(kind, {
        body: await storedPayload(body, { action, schema }),
        options,
      })
    );
  }

  /** Stores a job whose payload is valid. */
  async #store(
    { name, settings }: JobKind,
    { body, options = {} }: {
      readonly body: JsonValue;
      readonly options?: EnqueueOptions;
    },
  ): Promise<string> {
    const { engine, worker } = this.#require(`enqueue ${name}`);
    const { runAt, priority = settings.priority, singleton, group } = options;
    const { id, isNew } = await engine.enqueue({
      name,
      body,
      priority,
      runAt,
      singleton: singleton === undefined ? undefined : `${name}:${singleton}`,
      group: group === undefined ? undefined : `${name}:${group}`,
      trace: activeParent(),
    });
    await engine.afterCommit(() => {
      if (isNew) this.#metrics.enqueued(name);
      worker.wake();
    });
    return id;
  }

  #require(action: string): Started {
    if (this.#started) return this.#started;
    throw new TypeError(`Cannot ${action}: the application has not started`);
  }
}

/** Refuses objects: they would be conditions, which other jobs meet. */
function checkTexts(values: Readonly<Record<string, unknown>>, action: string): void {
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && typeof value !== "string") {
      throw new TypeError(`Cannot ${action}: ${name} is not a text`);
    }
  }
}
