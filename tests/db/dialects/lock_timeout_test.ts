/** A lock of MySQL that is not granted: the server rolls back the statement, or the transaction. */
import assert from "node:assert/strict";
import { MysqlDialect, sql } from "kysely";
import { createPool } from "mysql2";
import { DbError, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, testOnEach } from "../support/database.ts";
import { SKIP_OWN, startOwnServer } from "../support/own_servers.ts";

const Row = model("locked_rows", { id: field.integer().primaryKey(), text: field.text() });
class Db extends DbService.with({ row: Row }) {}

const MYSQL = { brands: ["mysql"] } as const;
const ended = (action: string, code: "PoolTimeout" | "Database" = "PoolTimeout") =>
  dbError(code, `Cannot ${action}: an earlier statement of its transaction failed`);

/** Statements that need the row that another transaction has locked. */
const WAITING: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  update: (db) => db.row.update({ where: { id: 1 }, data: { text: "late" } }),
  "lock without a wait": (db) =>
    db.row.findFirst({ where: { id: 1 }, lock: "update", noWait: true }),
  "nested update": (db) => db.transaction(() => WAITING["update"]!(db)),
  "update by Kysely": (db) => db.kysely.updateTable("locked_rows").set({ text: "late" }).execute(),
};

/** Runs something while another transaction has locked the only row, and returns all texts. */
async function whileLocked(db: Db, run: () => Promise<unknown>): Promise<readonly string[]> {
  await db.row.create({ data: { id: 1, text: "locked" } });
  const held = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const holding = db.transaction(async () => {
    await db.row.findFirst({ where: { id: 1 }, lock: "update" });
    held.resolve();
    await done.promise;
  });
  await held.promise;
  await run().finally(done.resolve);
  await holding;
  const rows = await db.row.findMany({ orderBy: { id: "asc" } });
  await db.row.deleteMany({ all: true });
  return rows.map(({ text }) => text);
}

/** Creates a row before and after a statement whose failure is caught. */
async function around(db: Db, statement: () => Promise<unknown>): Promise<void> {
  await sql`set session innodb_lock_wait_timeout = 1`.execute(db.kysely);
  await db.row.create({ data: { text: "first" } });
  await assert.rejects(statement(), DbError);
  await db.row.create({ data: { text: "last" } });
}

test("a caught lock failure ends the transaction that the server has rolled back", async () => {
  await using server = await startOwnServer("mysql", {
    settings: { "innodb-rollback-on-timeout": "on" },
  });
  await using db = await Db.open(DbOptions.fromUrl(server.url));
  await db.createTables();
  for (const [name, statement] of Object.entries(WAITING)) {
    const texts = await whileLocked(db, async () => {
      const going = db.transaction(() => around(db, () => statement(db)));
      await assert.rejects(going, ended("create locked_rows"), name);
      const catching = db.transaction(() => around(db, () => statement(db)).catch(() => {}));
      await assert.rejects(catching, ended("commit transaction"), name);
    });
    assert.deepEqual(texts, ["locked"], name);
  }
  const texts = await whileLocked(db, async () => {
    const kysely = db.kysely.transaction().execute(async (trx) => {
      await sql`set session innodb_lock_wait_timeout = 1`.execute(trx);
      const create = (text: string) => trx.insertInto("locked_rows").values({ text }).execute();
      await create("first");
      await trx.updateTable("locked_rows").set({ text: "late" }).execute().catch(() => {});
      await create("last");
    });
    await assert.rejects(kysely, ended("run query"));
  });
  assert.deepEqual(texts, ["locked"]);
}, { skip: SKIP_OWN.mysql, slow: true });

testOnEach("a transaction goes on after a caught lock failure of a statement", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  for (const [name, statement] of Object.entries(WAITING)) {
    const texts = await whileLocked(
      db,
      () => db.transaction(() => around(db, () => statement(db))),
    );
    assert.deepEqual(texts, ["locked", "first", "last"], name);
  }
}, MYSQL);

testOnEach(
  "a driver of fromDialect() goes on if the lock failure was in a nested transaction",
  async (
    { url },
  ) => {
    const pool = createPool({ uri: url, timezone: "Z" });
    await using db = await Db.open(DbOptions.fromDialect(new MysqlDialect({ pool })));
    await db.createTables();
    const caught = await whileLocked(db, async () => {
      const going = db.transaction(() => around(db, () => WAITING["update"]!(db)));
      await assert.rejects(going, ended("create locked_rows"));
    });
    assert.deepEqual(caught, ["locked"]);
    const nested = await whileLocked(
      db,
      () => db.transaction(() => around(db, () => WAITING["nested update"]!(db))),
    );
    assert.deepEqual(nested, ["locked", "first", "last"]);
  },
  MYSQL,
);

testOnEach("more locks than the server has memory for end the transaction", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  const failing = () =>
    sql`signal sqlstate 'HY000' set mysql_errno = 1206,
      message_text = 'The total number of locks exceeds the lock table size'`.execute(db.kysely);
  const going = db.transaction(() => around(db, failing));
  await assert.rejects(going, ended("create locked_rows", "Database"));
  assert.equal(await db.row.count(), 0);
}, MYSQL);
