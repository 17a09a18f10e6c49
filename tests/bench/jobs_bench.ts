/**
 * Jobs beside `pg-boss` on PostgreSQL, and on SQLite in one process. Each has a database of its own
 * on the same server, and works off as many jobs at a time.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { sql } from "kysely";
import * as v from "valibot";
import { type FwApplication, FwFactory, module } from "../../mod.ts";
import { DbModule, DbOptions, DbService } from "../../src/db/mod.ts";
import { job, Jobs, JobsModule, jobTables } from "../../src/jobs/mod.ts";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { BOSS_VERSION, openBoss } from "./boss.ts";
import { compare, printMachine } from "./compare.ts";

const JOBS = 10_000;
/** How many jobs run at a time. */
const AT_A_TIME = 10;
const CONCURRENT = 50;
/** How many jobs a second are enqueued and worked off on SQLite. */
const SQLITE_GOAL = 5000;
/** How many jobs a transaction enqueues on SQLite, and how many run at a time. */
const BATCHES = [1, 100] as const;

const PAYLOADS = Array.from({ length: JOBS }, (_, n) => ({ n }));

class Db extends DbService.with({ ...jobTables }) {}
const Nothing = job("nothing", { body: v.object({ n: v.number() }) });

/** An application that works off jobs of nothing. */
class Bench implements AsyncDisposable {
  readonly app: FwApplication;
  readonly db: Db;
  readonly jobs: Jobs;
  readonly #counter: Counter;

  private constructor(app: FwApplication, counter: Counter) {
    this.app = app;
    this.db = app.get(Db);
    this.jobs = app.get(Jobs);
    this.#counter = counter;
  }

  static async open(url: string, concurrency = AT_A_TIME): Promise<Bench> {
    const counter = new Counter();
    class Handlers {
      nothing = Nothing.handle(() => counter.count());
    }
    const app = await FwFactory.create(module({
      name: "AppModule",
      imports: [
        DbModule.forRoot(Db, DbOptions.fromUrl(url).poolMax(AT_A_TIME + 1)),
        JobsModule.forRoot(Db, { concurrency }),
      ],
      providers: [Handlers],
    }));
    const bench = new Bench(app, counter);
    await bench.db.createTables();
    return bench;
  }

  enqueue(): Promise<string> {
    return this.jobs.enqueue(Nothing, { n: 1 });
  }

  async enqueueMany(jobs: number): Promise<void> {
    for (let n = 0; n < jobs; n++) await this.enqueue();
  }

  /** Removes all jobs, and stores those that a turn works off. */
  async fill(): Promise<void> {
    const run_at = new Date();
    const job = {
      name: Nothing.name,
      state: "ready",
      rank: 0,
      run_at,
      created_at: run_at,
    } as const;
    const counts = { attempts: 0, lost: 0, beat: 0, blocked: false, cancelling: false };
    await this.db.fwJob.deleteMany({ all: true });
    await this.db.fwJob.createMany({
      data: PAYLOADS.map((body) => ({ ...job, ...counts, id: crypto.randomUUID(), body })),
    });
    await sql`vacuum analyze fw_jobs`.execute(this.db.kysely);
  }

  /** Starts the worker, and waits until it has handled as many jobs as a turn has. */
  async workOff(jobs = JOBS): Promise<void> {
    const all = this.#counter.until(jobs);
    this.jobs.onWorkersStart({ isServing: true });
    await all;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.app.close({ drainMs: 5000 });
  }
}

/** Counts handled jobs. */
class Counter {
  #left = 0;
  #end: (() => void) | undefined;

  count(): void {
    if (--this.#left === 0) this.#end?.();
  }

  until(jobs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#left = jobs;
    this.#end = resolve;
    return promise;
  }
}

const folder = mkdtempSync(join(tmpdir(), "fw-jobs-"));
for (const batch of BATCHES) {
  await benchSqlite({ where: "in memory", url: "sqlite::memory:", jobs: JOBS, batch });
  const url = `sqlite:${join(folder, `${batch}.sqlite`)}`;
  await benchSqlite({ where: "in a file", url, jobs: 100 * (batch + 9), batch });
}
rmSync(folder, { recursive: true });
if (SERVERS.postgres.skip) console.log(`PostgreSQL: ${SERVERS.postgres.skip}`);
else await benchPostgres();

async function benchPostgres(): Promise<void> {
  await using database = await createDatabase("postgres");
  await using other = await createDatabase("postgres");
  await using fw = await Bench.open(database.url);
  await using boss = await openBoss(other.url);
  const { rows: [server] } = await sql<{ server_version: string }>`show server_version`
    .execute(fw.db.kysely);
  printMachine(["kysely", "postgres"], {
    "pg-boss": BOSS_VERSION,
    PostgreSQL: String(server?.server_version),
  });
  const several = (run: () => Promise<unknown>) => () =>
    Promise.all(Array.from({ length: CONCURRENT }, run));
  const enqueue = () => fw.enqueue();
  const send = () => boss.send({ n: 1 });
  await compare({
    title: "PostgreSQL: enqueue",
    peers: [{ name: "fw", run: enqueue }, { name: "pg-boss", run: send }],
    goals: { "pg-boss": 1.1 },
  });
  await compare({
    title: `PostgreSQL: enqueue, ${CONCURRENT} at a time`,
    peers: [{ name: "fw", run: several(enqueue) }, { name: "pg-boss", run: several(send) }],
    goals: { "pg-boss": 1.1 },
  });

  const worked = new Counter();
  let worker: Bench | undefined;
  await compare({
    title: `PostgreSQL: ${JOBS} jobs of nothing, ${AT_A_TIME} at a time`,
    peers: [
      {
        name: "fw",
        async before() {
          await worker?.[Symbol.asyncDispose](); // one does not start again
          worker = await Bench.open(database.url);
          await worker.fill();
        },
        run: () => worker!.workOff(),
      },
      {
        name: "pg-boss",
        async before() {
          await boss.stopWork();
          await boss.fill(PAYLOADS);
        },
        async run() {
          const all = worked.until(JOBS);
          await boss.work(AT_A_TIME, () => worked.count());
          await all;
        },
      },
    ],
    goals: { "pg-boss": 1 / 0.8 },
    rounds: 5,
  });
  await worker?.[Symbol.asyncDispose]();
}

/** How jobs are enqueued and worked off on SQLite. */
interface SqliteCase {
  readonly where: string;
  readonly url: string;
  readonly jobs: number;
  /** How many a transaction enqueues. */
  readonly batch: number;
}

async function benchSqlite({ where, url, jobs, batch }: SqliteCase): Promise<void> {
  await using fw = await Bench.open(url, Math.max(batch, AT_A_TIME));
  const before = process.cpuUsage();
  const start = performance.now();
  const all = fw.workOff(jobs);
  for (let n = 0; n < jobs; n += batch) {
    if (batch === 1) await fw.enqueue();
    else await fw.db.transaction(() => fw.enqueueMany(batch));
  }
  await all;
  const { user, system } = process.cpuUsage(before);
  const rate = Math.round(jobs / (performance.now() - start) * 1000);
  const isMet = rate >= SQLITE_GOAL ? "met" : "missed";
  console.log(
    `SQLite ${where}: ${rate} jobs a second are enqueued, ${batch} in a transaction, and worked ` +
      `off; goal ${SQLITE_GOAL}: ${isMet} (${Math.round(jobs / (user + system) * 1e6)} in a ` +
      "second of processor time)",
  );
}
