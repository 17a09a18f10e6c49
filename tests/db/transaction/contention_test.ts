import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { type RawBuilder, sql } from "kysely";
import type { IsolationLevel } from "../../../src/db/mod.ts";
import { administer } from "../support/servers.ts";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, type Db, dbError, openDb, testOnEach } from "../support/database.ts";
import { sessionOf } from "../support/sessions.ts";

const SERVERS = ["postgres", "mysql"] as const;
const BUSY = dbError("PoolTimeout", "Cannot update users: another transaction locks it");
const LATE = dbError("StatementTimeout", "Cannot update users: it took too long");

function testServers(name: string, run: (db: Db, brand: Brand) => Promise<void>): void {
  testOnEach(name, async ({ brand, url }) => {
    await using db = await openDb(url);
    await db.user.createMany({
      data: ["a", "b"].map((email) => ({ tenant_id: "t", email, name: "old" })),
    });
    await run(db, brand);
  }, { brands: SERVERS });
}

function rename(db: Db, email: string, name: string): Promise<unknown> {
  return db.user.update({ where: { email }, data: { name } });
}

/** Runs two transactions that meet midway. */
async function both(
  db: Db,
  run: (mine: string, other: string, meet: () => Promise<void>) => Promise<void>,
  options: { isolation?: IsolationLevel; retries?: number },
): Promise<readonly unknown[]> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  const meet = async () => {
    if (++arrived === 2) resolve();
    await promise;
  };
  const settled = await Promise.allSettled([
    db.transaction(() => run("a", "b", meet), options),
    db.transaction(() => run("b", "a", meet), options),
  ]);
  return settled.map((it) => it.status === "fulfilled" ? "done" : it.reason.code).sort();
}

testServers("a deadlock is a SerializationFailure of one transaction", async (db) => {
  const crosswise = async (mine: string, other: string, meet: () => Promise<void>) => {
    await rename(db, mine, `by ${mine}`);
    await meet();
    await rename(db, other, `by ${mine}`);
  };
  assert.deepEqual(await both(db, crosswise, {}), ["SerializationFailure", "done"]);
  const names = (await db.user.findMany()).map(({ name }) => name);
  assert.equal(new Set(names).size, 1, "all of one transaction, nothing of the other");
  assert.deepEqual(await both(db, crosswise, { retries: 5 }), ["done", "done"]);
});

testServers(
  "a deadlock inside a Kysely transaction fails, and is retried, as a whole",
  async (db) => {
    const crosswise = (mine: string, other: string, meet: () => Promise<void>) =>
      db.kysely.transaction().execute(async (trx) => {
        const rename = (email: string) =>
          trx.updateTable("users").set({ name: `by ${mine}` }).where("email", "=", email).execute();
        await rename(mine);
        await meet();
        await rename(other);
      });
    assert.deepEqual(await both(db, crosswise, {}), ["SerializationFailure", "done"]);
    assert.deepEqual(await both(db, crosswise, { retries: 5 }), ["done", "done"]);
  },
);

testServers("serializable transactions that rely on each other's rows do not both commit", async (
  db,
) => {
  const skewed = async (mine: string, other: string, meet: () => Promise<void>) => {
    const seen = await db.user.findUnique({ where: { email: other } });
    await meet();
    await rename(db, mine, `after ${seen?.name}`);
  };
  const isolation = "serializable";
  assert.deepEqual(await both(db, skewed, { isolation }), ["SerializationFailure", "done"]);
  assert.deepEqual(await both(db, skewed, { isolation, retries: 5 }), ["done", "done"]);
});

testServers("a lock that takes too long is a PoolTimeout", async (db, brand) => {
  const limit = brand === "postgres"
    ? sql`set local lock_timeout = 50`
    : sql`set session innodb_lock_wait_timeout = 1`;
  await whileHeld(db, () => assert.rejects(lateAfter(limit, db), BUSY));
});

testServers("a server's own limit of statements is a StatementTimeout", async (db, brand) => {
  const limit = brand === "postgres"
    ? sql`set local statement_timeout = 50`
    // Only MariaDB has a limit for statements that write, and runs such a comment.
    : sql`set session innodb_lock_wait_timeout = 50 /*M! , max_statement_time = 0.05 */`;
  await whileHeld(db, () => assert.rejects(lateAfter(limit, db), LATE));
});

testServers(
  "a statement that the server was told to cancel is a StatementTimeout",
  async (db, brand) => {
    await whileHeld(db, async () => {
      const { promise: session, resolve } = Promise.withResolvers<number>();
      const waiting = assert.rejects(
        db.transaction(async () => {
          resolve(await sessionOf(brand, db.kysely));
          await rename(db, "a", "late");
        }),
        LATE,
      );
      const id = await session;
      while (!await waitsForLock(db, brand, id)) await delay(10);
      await (brand === "postgres"
        ? administer("postgres", `select pg_cancel_backend(${id})`)
        : administer("mysql", `kill query ${id}`));
      await waiting;
    });
  },
);

/** Renames a user after a statement that sets a limit, in one transaction. */
async function lateAfter(limit: RawBuilder<unknown>, db: Db): Promise<void> {
  await db.transaction(async () => {
    await limit.execute(db.kysely);
    await rename(db, "a", "late");
  });
}

/** Checks whether a session waits for a row that another has locked. */
async function waitsForLock(db: Db, brand: Brand, session: number): Promise<boolean> {
  const locks = brand === "postgres"
    ? sql`select 1 from pg_stat_activity where pid = ${session} and wait_event_type = 'Lock'`
    : sql`select 1 from information_schema.innodb_trx where trx_mysql_thread_id = ${session}
        and trx_state = 'LOCK WAIT'`;
  return (await locks.execute(db.kysely)).rows.length > 0;
}

/** Runs something while a transaction keeps a row, and sees that only that one changed it. */
async function whileHeld(db: Db, run: () => Promise<void>): Promise<void> {
  const held = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const holding = db.transaction(async () => {
    await rename(db, "a", "held");
    held.resolve();
    await done.promise;
  });
  await held.promise;
  await run().finally(done.resolve);
  await holding;
  assert.equal((await db.user.findUnique({ where: { email: "a" } }))?.name, "held");
}

const Left = model("left_keys", { id: field.integer().primaryKey() });
const Right = model("right_keys", { id: field.integer().primaryKey() });
class Keys extends DbService.with({ left: Left, right: Right }) {}
type Table = Keys["left"] | Keys["right"];

testOnEach(
  "transactions that create rows with keys of their own do not wait for each other",
  async ({ url }) => {
    await using db = await Keys.open(DbOptions.fromUrl(url));
    await db.createTables();
    const all = Promise.withResolvers<void>();
    /** Creates a row in one table and, when all have done so, in the other. */
    function create(id: number, [first, second]: readonly [Table, Table]) {
      const begun = Promise.withResolvers<void>();
      const done = db.transaction(async () => {
        await first.create({ data: { id } });
        begun.resolve();
        await all.promise;
        await second.create({ data: { id } });
      });
      return Promise.race([begun.promise, done]).then(() => ({ done }));
    }
    const low = await create(10, [db.left, db.right]);
    const middle = await create(20, [db.left, db.right]);
    const high = await create(30, [db.right, db.left]);
    all.resolve();
    await Promise.all([low.done, middle.done, high.done]);
    for (const table of [db.left, db.right]) {
      assert.deepEqual(
        await table.findMany({ orderBy: { id: "asc" } }),
        [10, 20, 30].map((id) => ({ id })),
      );
      assert.deepEqual(await table.create({ data: {} }), { id: 31 });
    }
    const ids = Array.from({ length: 200 }, (_, i) => 100 + (i * 37) % 200);
    await Promise.all(ids.map((id) => db.left.create({ data: { id } })));
    assert.deepEqual(await db.left.create({ data: {} }), { id: 300 });
  },
  { brands: SERVERS },
);
