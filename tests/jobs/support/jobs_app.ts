/** Applications with jobs on each database. */
import { setTimeout as delay } from "node:timers/promises";
import { type FwApplication, FwFactory, module } from "../../../mod.ts";
import { DbModule, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import type { Brand } from "../../db/support/database.ts";
import {
  type EventHandler,
  Events,
  type JobHandler,
  Jobs,
  JobsModule,
  type JobsOptions,
  jobTables,
  type Schedule,
} from "../../../src/jobs/mod.ts";
import { relayOf, SKIP_RELAY, withRelay } from "./relays.ts";
import { type SharedTest, testOnShared } from "./shared_databases.ts";

export const Effect = model("effects", {
  id: field.integer().primaryKey(),
  key: field.text(),
});

export class Db extends DbService.with({ effect: Effect, ...jobTables }) {}

/** A clock that a test moves. */
export class Clock {
  ms = Date.UTC(2026, 0, 1);
  readonly now = (): number => this.ms;
}

/** How an application is created. */
export interface AppOptions extends JobsOptions {
  readonly now?: () => number;
  readonly poolMax?: number;
  readonly handlers?: Readonly<Record<string, JobHandler | EventHandler | Schedule>>;
}

/** An application, and its parts. */
export interface JobsApp extends AsyncDisposable {
  readonly app: FwApplication;
  readonly db: Db;
  readonly jobs: Jobs;
  readonly events: Events;
  /** Starts the worker, as `listen` does. */
  readonly work: () => Promise<void>;
  /** Stops the worker. */
  readonly stopWork: (drainMs?: number) => Promise<void>;
}

/** Creates an application whose provider has handlers, and the tables. */
export async function jobsApp(
  url: string,
  { now = Date.now, poolMax = 10, handlers = {}, ...options }: AppOptions = {},
): Promise<JobsApp> {
  class Handlers {
    constructor() {
      Object.assign(this, handlers);
    }
  }
  const app = await FwFactory.create(module({
    name: "AppModule",
    imports: [
      DbModule.forRoot(Db, DbOptions.fromUrl(url).now(now).poolMax(poolMax)),
      JobsModule.forRoot(Db, { pollMs: 50, ...relayOf(url), ...options }),
    ],
    providers: [Handlers],
  }));
  const db = app.get(Db);
  await db.createTables();
  const jobs = app.get(Jobs);
  return {
    app,
    db,
    jobs,
    events: app.get(Events),
    work: () => jobs.onWorkersStart({ isServing: true }),
    stopWork: (drainMs = 5000) => jobs.onWorkersStop({ drainMs }),
    [Symbol.asyncDispose]: () => app.close({ drainMs: 1000 }),
  };
}

/** Runs a test on each database, whose tables are empty. */
export function testJobs(
  name: string,
  run: SharedTest["run"],
  options: Pick<SharedTest, "slow"> = {},
): void {
  testOnShared(name, { run, empty, ...options });
}

/**
 * Runs a test of workers on each database, and with jobs that BullMQ delivers; if it is slow on a
 * database, it is over BullMQ too.
 */
export function testWorkers(
  name: string,
  run: SharedTest["run"],
  options: Pick<SharedTest, "slow"> = {},
): void {
  testJobs(name, run, options);
  testRelayed(name, (url, brand) => run(url, brand), { slow: options.slow !== undefined });
}

/** A test of a relay: `queue` is the name of its queue. */
type RelayedTest = (url: string, ...[brand, queue]: [Brand, string]) => Promise<void>;

/** Runs a test with jobs that BullMQ delivers. */
export function testRelayed(
  name: string,
  run: RelayedTest,
  { slow = false }: { readonly slow?: boolean } = {},
): void {
  testOnShared(`${name}, over BullMQ`, {
    run: (url, brand) => withRelay(url, (queue) => run(url, brand, queue)),
    empty,
    brands: ["postgres"],
    skip: SKIP_RELAY,
    slow: slow ? ["postgres"] : [],
  });
}

async function empty(url: string): Promise<void> {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.fwJob.deleteMany({ all: true });
}

/** Waits until a condition holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 10) {
    if (await holds()) return;
    await delay(10);
  }
  throw new Error("Cannot wait longer: the condition does not hold");
}
