import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { type DbError, DbMigrations, DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { SERVERS, works } from "../dialects/fault.ts";
import { Db, dbError, openDb, type TestDatabase, testOnEach } from "../support/database.ts";
import { runningStatements, type ServerBrand, sleep } from "../support/sessions.ts";
import { tcpLine } from "../support/tcp_line.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };
const LIMIT_MS = 800;
/** Far more than a limit and the time to cancel take, and far less than the statements would. */
const SOON_MS = 120_000;
const HOUR_S = 3600;

const late = (action: string) => dbError("StatementTimeout", `Cannot ${action}: it took too long`);

/** Runs a test on each server, with a connection whose statements are limited. */
function testServers(
  name: string,
  run: (db: Db, database: TestDatabase & { brand: ServerBrand }) => Promise<void>,
): void {
  testOnEach(name, async ({ brand, url }) => {
    assert.ok(brand !== "sqlite");
    const options = DbOptions.fromUrl(url).poolMax(1);
    await (await openDb(url)).close();
    await using db = await Db.open(options.statementTimeoutMs(LIMIT_MS));
    await db.user.create({ data: ADA });
    await soon(() => run(db, { brand, url }));
    assert.ok(await works(db));
  }, { brands: SERVERS });
}

async function soon<T>(run: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  try {
    return await run();
  } finally {
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs < SOON_MS, `it took ${tookMs} ms`);
  }
}

/** Waits until the server runs no statement that sleeps. */
async function nobodySleeps(
  { brand, url }: { readonly brand: ServerBrand; readonly url: string },
): Promise<void> {
  const isAwake = async () =>
    (await runningStatements(brand, url)).every((statement) => !statement.includes("sleep("));
  while (!await isAwake()) await delay(20);
}

testServers("a statement beyond its limit is cancelled on the server", async (db, database) => {
  await assert.rejects(sleep(database.brand, HOUR_S).execute(db.kysely), late("run query"));
  await nobodySleeps(database);
});

testServers("a statement beyond its limit rolls its transaction back", async (db, database) => {
  await assert.rejects(
    db.transaction(async () => {
      await db.user.updateMany({ all: true, data: { name: "changed" } });
      await sleep(database.brand, HOUR_S).execute(db.kysely).catch(() => {});
      await db.user.count();
    }),
    dbError(
      "StatementTimeout",
      "Cannot count users: an earlier statement of its transaction failed",
    ),
  );
  await nobodySleeps(database);
  assert.equal((await db.user.findFirst())?.name, "Ada");
});

testServers("a stream of Kysely ends when a chunk takes too long", async (db, database) => {
  const asleep = sql`(${sleep(database.brand, HOUR_S)})`;
  const rows = db.kysely.selectNoFrom(asleep.as("slept")).stream();
  await assert.rejects(Array.fromAsync(rows), late("run query"));
  await nobodySleeps(database);
});

testServers(
  "timeoutMs and signal limit an operation, and what waits for it",
  async (db, { brand }) => {
    const holding = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const holder = db.transaction(async () => {
      held.resolve();
      await holding.promise;
    });
    await held.promise;
    const stop = new AbortController();
    const waiting = [
      assert.rejects(db.user.count({ timeoutMs: 50 }), late("count users")),
      assert.rejects(db.user.findUnique({ where: { id: 1 }, timeoutMs: 50 }), late("read users")),
      assert.rejects(
        db.user.deleteMany({ all: true, signal: stop.signal }),
        (error: DbError) => {
          assert.equal(error.message, "Cannot delete users: it was aborted");
          assert.equal((error.cause as Error).cause, "enough");
          return true;
        },
      ),
      assert.rejects(db.transaction(() => {}, { timeoutMs: 50 }), late("begin transaction")),
    ];
    stop.abort("enough");
    await Promise.all(waiting);
    holding.resolve();
    await holder;
    await assert.rejects(
      db.user.count({ signal: stop.signal }),
      dbError("StatementTimeout", "Cannot count users: it was aborted"),
    );
    const { signal } = stop;
    const data = { name: "late", tenant_id: "t", email: "late@x.example" };
    await assert.rejects(
      db.user.create({ data, signal }),
      dbError("StatementTimeout", "Cannot create users: it was aborted"),
    );
    await assert.rejects(
      db.user.update({ where: { id: 1 }, data, signal }),
      dbError("StatementTimeout", "Cannot update users: it was aborted"),
    );
    assert.equal(
      await db.user.count({ timeoutMs: 10_000, signal: new AbortController().signal }),
      1,
      brand,
    );
  },
);

testServers("a signal ends a statement that the server is running", async (db, database) => {
  for (
    const within of ["an operation", "a transaction", "a nested one", "one whose error is caught"]
  ) {
    const stop = new AbortController();
    const limits = { signal: stop.signal };
    const asleep = () => sleep(database.brand, HOUR_S).execute(db.kysely);
    const unlimited = { ...limits, timeoutMs: 60_000 };
    const nested = () => {
      const result = db.transaction(asleep, limits);
      return within === "one whose error is caught" ? result.catch(() => {}) : result;
    };
    const sleeping = within === "an operation"
      ? db.transaction(() => asleep(), unlimited)
      : db.transaction<unknown>(nested, { timeoutMs: 60_000 });
    setTimeout(() => stop.abort(new Error("enough")), 50);
    const error = await sleeping.then(() => undefined, (error: DbError) => error);
    assert.equal(error?.code, "StatementTimeout", within);
    await nobodySleeps(database);
  }
});

testOnEach("a transaction whose function never ends is rolled back", async ({ url }) => {
  await (await openDb(url)).close();
  const options = DbOptions.fromUrl(url).poolMax(1).transactionTimeoutMs(LIMIT_MS);
  await using db = await Db.open(options);
  const goOn = Promise.withResolvers<void>();
  const after = Promise.withResolvers<unknown>();
  await soon(() =>
    assert.rejects(
      db.transaction(async () => {
        await db.user.create({ data: ADA });
        await goOn.promise;
        await db.user.count().catch(after.resolve);
      }),
      late("run transaction"),
    )
  );
  assert.equal(await db.user.count(), 0);
  assert.equal((await db.transaction(() => db.user.create({ data: ADA }))).name, "Ada");
  goOn.resolve();
  dbError("StatementTimeout", "Cannot count users: its transaction took too long")(
    await after.promise,
  );
  assert.equal(await db.user.count(), 1);
});

testOnEach("a server that hangs is given up, and the pool works on when it is back", async (
  { url },
) => {
  await using line = await tcpLine(url);
  await (await openDb(url)).close();
  const options = DbOptions.fromUrl(line.url).poolMax(2).acquireTimeoutMs(5000);
  await using db = await Db.open(options.statementTimeoutMs(LIMIT_MS));
  await db.user.create({ data: ADA });
  await soon(async () => {
    for (const begun of [false, true]) {
      const hanging = async () => {
        if (begun) await db.user.count();
        line.hang();
        await db.user.count();
      };
      await assert.rejects(begun ? db.transaction(hanging) : hanging(), late("count users"));
      await line.restore();
      assert.ok(await works(db));
    }
    await assert.rejects(
      db.transaction(async () => {
        await db.user.count();
        line.hang();
      }),
      late("commit transaction"),
    );
    await line.restore();
  });
  assert.ok(await works(db));
}, { brands: SERVERS, slow: true });

testOnEach("migrations have no limit", async ({ brand, url }) => {
  const slow = brand === "postgres" ? "select pg_sleep(0.5)" : "do sleep(0.5)";
  const options = DbOptions.fromUrl(url).statementTimeoutMs(100).transactionTimeoutMs(100)
    .migrations({ "0001_slow": slow });
  await using migrations = await DbMigrations.open(options);
  assert.deepEqual(await migrations.migrate(), ["0001_slow"]);
}, { brands: SERVERS });

test("limits in time must be times", async () => {
  await using db = await openDb();
  const options = DbOptions.fromUrl("sqlite::memory:");
  for (const timeoutMs of [0, -1, NaN, 2 ** 31]) {
    const error = {
      name: "RangeError",
      message: `Cannot limit operation: ${timeoutMs} ms is not a time limit`,
    };
    await assert.rejects(db.user.count({ timeoutMs }), error);
    await assert.rejects(db.transaction(() => {}, { timeoutMs }), error);
    assert.throws(() => options.statementTimeoutMs(timeoutMs), error);
    assert.throws(() => options.transactionTimeoutMs(timeoutMs), error);
  }
  options.statementTimeoutMs(Infinity).transactionTimeoutMs(Infinity);
  await assert.rejects(db.user.count({ signal: "now" as never }), {
    name: "TypeError",
    message: "Cannot limit operation: signal is not an AbortSignal",
  });
});

testOnEach("a transaction of Kysely beyond its limit is rolled back, even if it never ends", async (
  { url },
) => {
  await using db = await Db.open(DbOptions.fromUrl(url).transactionTimeoutMs(2000).poolMax(1));
  await db.createTables();
  const insert = (kysely: typeof db.kysely, email: string) =>
    kysely.insertInto("users").values({ ...ADA, email }).execute();
  const tooLong = (action: string) =>
    dbError("StatementTimeout", `Cannot ${action}: its transaction took too long`);
  // a write of one statement, which waits for the connection
  const rename = () =>
    db.user.updateMany({ where: { email: "none" }, data: { name: "x" }, timeoutMs: 60_000 });
  const endless = Promise.withResolvers<void>();
  const inserted = Promise.withResolvers<void>();
  const never = db.kysely.transaction().execute(async (trx) => {
    await insert(trx, "never");
    inserted.resolve();
    await endless.promise;
    await insert(trx, "late");
  });
  await Promise.race([inserted.promise, never.catch(() => {})]);
  await rename(); // the only connection is free again
  endless.resolve();
  await assert.rejects(never, tooLong("run query"));
  const committed = db.kysely.transaction().execute(async (trx) => {
    await insert(trx, "committed");
    await rename();
  });
  await assert.rejects(committed, tooLong("commit transaction"));
  await db.kysely.transaction().execute((trx) => insert(trx, "soon"));
  assert.deepEqual((await db.user.findMany()).map(({ email }) => email), ["soon"]);
});

testOnEach("a connection of Kysely whose transaction reached its limit begins no other", async (
  { url },
) => {
  const options = DbOptions.fromUrl(url).transactionTimeoutMs(2000).poolMax(1);
  await using db = await Db.open(options);
  await db.createTables();
  const insert = (kysely: typeof db.kysely, email: string) =>
    kysely.insertInto("users").values({ ...ADA, email }).execute();
  await db.kysely.connection().execute(async (kysely) => {
    const expired = kysely.transaction().execute(async (trx) => {
      await insert(trx, "expired");
      // a write of one statement, which waits for the connection
      await db.user.updateMany({ where: { email: "a" }, data: { name: "x" }, timeoutMs: 60_000 });
    });
    const tooLong = { code: "StatementTimeout" };
    await assert.rejects(expired, tooLong);
    await assert.rejects(kysely.transaction().execute((trx) => insert(trx, "second")), tooLong);
    await assert.rejects(insert(kysely, "third"), tooLong);
  });
  for (const email of ["a", "b"]) await db.user.create({ data: { ...ADA, email } });
  await using other = await Db.open(DbOptions.fromUrl(url));
  assert.deepEqual((await other.user.findMany()).map(({ email }) => email), ["a", "b"]);
});

testOnEach(
  "a transaction that reaches its limit while it goes back to a savepoint is not committed",
  async (
    { url },
  ) => {
    await using line = await tcpLine(url);
    const options = DbOptions.fromUrl(line.url).transactionTimeoutMs(2000).poolMax(1);
    await using db = await Db.open(options);
    await db.createTables();
    const insert = (kysely: typeof db.kysely, email: string) =>
      kysely.insertInto("users").values({ ...ADA, email }).execute();
    const trx = await db.kysely.startTransaction().execute();
    await insert(trx, "lost");
    const after = await trx.savepoint("before").execute();
    line.slow(3000);
    await after.rollbackToSavepoint("before").execute().catch(() => {}); // the limit passes meanwhile
    line.slow(0);
    await assert.rejects(trx.commit().execute(), { code: "StatementTimeout" });
    await trx.rollback().execute().catch(() => {});
    const failing = db.transaction(async () => {
      await db.user.create({ data: ADA });
      throw new Error("failed");
    }, { timeoutMs: 60_000 });
    await assert.rejects(failing, { message: "failed" });
    assert.equal(await db.user.count(), 0);
  },
  { brands: SERVERS },
);

testOnEach("a controlled transaction whose commit fails is released at its limit", async (
  { brand, url },
) => {
  const options = DbOptions.fromUrl(url).transactionTimeoutMs(1000).poolMax(1);
  await using db = await Db.open(options);
  const deferred = "deferrable initially deferred";
  const column = brand === "postgres"
    ? `unique ${deferred}`
    : `references parents (id) ${deferred}`;
  await sql.raw("create table parents (id int primary key)").execute(db.kysely);
  await sql.raw(`create table children (parent int ${column})`).execute(db.kysely);
  const trx = await db.kysely.startTransaction().execute();
  await sql`insert into children values (1), (1)`.execute(trx);
  await assert.rejects(trx.commit().execute());
  // without a rollback, which would release the connection
  await sql`delete from parents`.execute(db.kysely);
}, { brands: ["sqlite", "postgres"] });
