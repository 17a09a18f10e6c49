import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { SqliteDialect } from "kysely";
import { DbOptions, DbService, field, hasMany, model } from "../../../src/db/mod.ts";
import { mysqlGrammar } from "../../../src/db/dialects/mysql/mysql.ts";
import { test } from "../../support/test.ts";
import { dbError, temporaryFolder, testOnEach } from "../support/database.ts";
import { plainSqlite } from "../support/plain_sqlite.ts";

const Job = model("jobs", {
  id: field.integer().primaryKey(),
  queue: field.text().default("a"),
  taken_by: field.text().nullable(),
});
const Step = model("steps", {
  id: field.integer().primaryKey(),
  job_id: field.integer().references(Job),
});
class Jobs extends DbService.with({ job: Job, step: Step }, {
  job: { steps: hasMany(Step.job_id) },
}) {}

const SERVERS = { brands: ["postgres", "mysql"] } as const;
const LOCKED = dbError("PoolTimeout", "Cannot read jobs: another transaction locks it");

async function openJobs(url: string, count: number): Promise<Jobs> {
  const db = await Jobs.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.job.createMany({ data: Array.from({ length: count }, (_, id) => ({ id: id + 1 })) });
  return db;
}

/** Runs a function while another transaction has locked a job. */
async function whileLocked(
  db: Jobs,
  { id, lock = "update" }: { id: number; lock?: "update" | "share" },
  run: () => Promise<void>,
): Promise<void> {
  const { promise: isLocked, resolve } = Promise.withResolvers<void>();
  const { promise: end, resolve: release } = Promise.withResolvers<void>();
  const holding = db.transaction(async () => {
    await db.job.findUnique({ where: { id }, lock });
    resolve();
    await end;
  });
  await isLocked;
  try {
    await run();
  } finally {
    release();
    await holding;
  }
}

testOnEach("skipLocked: workers never take the same job, and lose none", async ({ url }) => {
  const count = 60;
  await using db = await openJobs(url, count);
  await using other = await Jobs.open(DbOptions.fromUrl(url));
  const taken: number[] = [];
  async function takeJob(worker: string, jobs: Jobs): Promise<boolean> {
    const job = await jobs.transaction(async () => {
      const job = await jobs.job.findFirst({
        where: { taken_by: null },
        orderBy: { id: "asc" },
        lock: "update",
        skipLocked: true,
      });
      if (!job) return undefined;
      await jobs.ping(); // another worker comes between
      await jobs.job.update({ where: { id: job.id }, data: { taken_by: worker } });
      return job;
    }, { isolation: "read committed", retries: 20 });
    if (job) taken.push(job.id);
    return job !== undefined;
  }
  async function work(worker: string, jobs: Jobs): Promise<void> {
    // What is skipped may be rolled back by a deadlock, so the table decides.
    while (await takeJob(worker, jobs) || await jobs.job.exists({ where: { taken_by: null } }));
  }
  await Promise.all([work("a", db), work("b", other), work("c", db), work("d", other)]);
  assert.deepEqual(taken.sort((a, b) => a - b), Array.from({ length: count }, (_, id) => id + 1));
  const workers = new Set((await db.job.findMany()).map(({ taken_by }) => taken_by));
  assert.ok(workers.size > 1 && !workers.has(null), [...workers].join());
});

testOnEach("skipLocked leaves out the rows that others have locked", async ({ url }) => {
  await using db = await openJobs(url, 3);
  await db.job.update({ where: { id: 3 }, data: { queue: "b" } });
  await whileLocked(db, { id: 1 }, async () => {
    const options = { orderBy: { id: "asc" }, take: 2, skipLocked: true } as const;
    await db.transaction(async () => {
      const rows = await db.job.findMany({ ...options, lock: "update" });
      assert.deepEqual(rows.map(({ id }) => id), [2, 3]);
      const mine = await db.job.scoped({ queue: "b" }).findMany({ ...options, lock: "share" });
      assert.deepEqual(mine.map(({ id }) => id), [3]);
    });
  });
}, SERVERS);

testOnEach("noWait fails at once with PoolTimeout if another locks a row", async ({ url }) => {
  await using db = await openJobs(url, 2);
  await whileLocked(db, { id: 1 }, async () => {
    const find = (id: number, lock: "update" | "share") =>
      db.transaction(() => db.job.findUnique({ where: { id }, lock, noWait: true }));
    await assert.rejects(find(1, "update"), LOCKED);
    await assert.rejects(find(1, "share"), LOCKED);
    assert.equal((await find(2, "update"))?.id, 2);
  });
}, SERVERS);

testOnEach("a shared lock admits other shared locks, and no lock to update", async ({ url }) => {
  await using db = await openJobs(url, 1);
  await whileLocked(db, { id: 1, lock: "share" }, async () => {
    const find = (lock: "update" | "share") =>
      db.transaction(() => db.job.findMany({ lock, noWait: true }));
    assert.equal((await find("share")).length, 1);
    await assert.rejects(find("update"), LOCKED);
  });
}, SERVERS);

testOnEach("a lock leaves the rows of relations unlocked", async ({ url }) => {
  await using db = await openJobs(url, 1);
  await db.step.create({ data: { id: 5, job_id: 1 } });
  await db.transaction(async () => {
    const [job] = await db.job.findMany({ lock: "update", include: { steps: true } });
    assert.deepEqual(job?.steps, [{ id: 5, job_id: 1 }]);
    await using other = await Jobs.open(DbOptions.fromUrl(url));
    const step = await other.transaction(() =>
      other.step.findUnique({ where: { id: 5 }, lock: "update", noWait: true })
    );
    assert.equal(step?.id, 5);
  });
}, SERVERS);

testOnEach("Repository refuses a lock that has no effect or contradicts", async ({ url }) => {
  await using db = await openJobs(url, 1);
  const find = db.job.findMany.bind(db.job) as (options: unknown) => Promise<unknown>;
  const refused = (options: unknown, reason: string) =>
    assert.rejects(find(options), { name: "TypeError", message: `Cannot read jobs: ${reason}` });
  const outside = "a lock needs a transaction, such as db.transaction()";
  await refused({ lock: "update" }, outside);
  await assert.rejects(db.job.findFirst({ lock: "share" }), TypeError);
  await assert.rejects(db.job.findUnique({ where: { id: 1 }, lock: "share" }), TypeError);
  await db.transaction(async () => {
    for (const lock of ["exclusive", null, true]) {
      await refused({ lock }, 'lock is not "update" or "share"');
    }
    await refused({ skipLocked: true }, 'lock is not "update" or "share"');
    await refused({ lock: "update", noWait: 1 }, "noWait is not a boolean");
    await refused({ lock: "update", skipLocked: null }, "skipLocked is not a boolean");
    const both = { lock: "update", skipLocked: true, noWait: true };
    await refused(both, "skipLocked and noWait exclude each other");
    await refused({ lock: "update", distinct: ["id"] }, "distinct rows cannot be locked");
    const stream = db.job.stream({ lock: "update" } as never);
    await assert.rejects(stream.next(), /it takes no "lock"/);
  });
});

test("a lock on SQLite begins to write if the driver's transaction only reads", async () => {
  await using folder = await temporaryFolder();
  const open = () => {
    const database = plainSqlite(new DatabaseSync(folder.path("jobs.sqlite")));
    return Jobs.open(DbOptions.fromDialect(new SqliteDialect({ database })));
  };
  await using db = await open();
  await using other = await open();
  await db.createTables();
  await db.job.create({ data: { id: 1 } });
  await db.transaction(async () => {
    assert.equal((await db.job.findMany({ lock: "update" })).length, 1);
    const lock = other.transaction(() => other.job.findMany({ lock: "update" }));
    await assert.rejects(
      lock,
      dbError("PoolTimeout", "Cannot read jobs: the database was busy for too long"),
    );
    assert.equal((await other.job.findMany()).length, 1);
  });
});

test("a shared lock is written as MySQL and MariaDB accept it", () => {
  const clauses = (version: string) => {
    const grammar = mysqlGrammar({ collation: "utf8mb4_bin", version });
    return ([undefined, "skip locked", "nowait"] as const).map((wait) =>
      grammar.locking?.({ lock: "share", wait })
    );
  };
  const older = "lock in share mode";
  assert.deepEqual(clauses("8.0.36"), [older, "for share skip locked", "for share nowait"]);
  const ofMariadb = [older, `${older} skip locked`, `${older} nowait`];
  assert.deepEqual(clauses("10.11.19-MariaDB-0+deb12u1"), ofMariadb);
});
