/** What a write to a SQLite file waits for, and what is checked after it. */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { CompiledQuery } from "kysely";
import { DbConnection } from "../../../src/db/connection/connection.ts";
import { DEFAULT_LIMITS } from "../../../src/db/connection/pool_limits.ts";
import { Sqlite } from "../../../src/db/dialects/sqlite/sqlite_driver.ts";
import { SqliteFile } from "../../../src/db/dialects/sqlite/sqlite_file.ts";
import { DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db, temporaryFolder } from "../support/database.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };
const LIMIT_MS = 1_000;
/** When the next write begins, after the one that it waits for. */
const LATER_MS = 200;
/** After this time, what was checked for a write is checked again. */
const CHECKED_MS = 15;

const WRITES: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  "a write": (db) => db.user.create({ data: ADA }),
  "a transaction": (db) => db.transaction(() => db.user.create({ data: ADA })),
  "a query of Kysely": (db) => db.kysely.insertInto("users").values(ADA).execute(),
};

for (const [name, write] of Object.entries(WRITES)) {
  test(`${name} waits once: behind another and for another process together`, async () => {
    await using folder = await temporaryFolder();
    const path = folder.path("data.sqlite");
    const options = DbOptions.fromUrl(`sqlite:${path}`).acquireTimeoutMs(LIMIT_MS);
    await using db = await Db.open(options);
    await db.createTables();
    await using alone = await Db.open(options);
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    const before = refusedAt(write(db));
    await delay(LATER_MS);
    const [behind, reference] = await Promise.all([refusedAt(write(db)), refusedAt(write(alone))]);
    const longerMs = behind - reference;
    assert.ok(longerMs < (LIMIT_MS - LATER_MS) / 2, `it waits ${longerMs} ms longer`);
    await before;
    other.exec("commit");
    other.close();
    await write(db);
  });
}

for (const [name, write] of Object.entries(WRITES)) {
  test(`${name} that its caller has given up is not run when the file is free`, async () => {
    await using folder = await temporaryFolder();
    const path = folder.path("data.sqlite");
    const options = DbOptions.fromUrl(`sqlite:${path}`)
      .acquireTimeoutMs(60_000).statementTimeoutMs(100);
    await using db = await Db.open(options);
    await db.createTables();
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    await assert.rejects(write(db), { name: "DbError", code: "StatementTimeout" });
    other.exec("commit");
    other.close();
    await delay(LATER_MS); // more than the wait between two tries
    assert.equal(await db.user.count(), 0);
  });
}

test("the file is checked after writes of Kysely, and not after its reads", async () => {
  await using folder = await temporaryFolder();
  const path = folder.path("data.sqlite");
  const database = new DatabaseSync(path);
  database.exec("create table notes (text text)");
  let checks = 0;
  const file = new SqliteFile(() => {
    checks += 1;
    return statSync(path, { bigint: true });
  });
  const limits = { limitMs: LIMIT_MS };
  const { kysely, ...db } = connect(new Sqlite(database, { limits, file }));
  for (let read = 0; read < 50; read++) await kysely.selectFrom("notes").selectAll().execute();
  assert.ok(checks < 25, `${checks} checks of 50 reads`);
  checks = 0;
  const insertion = kysely.insertInto("notes").values({ text: "a" });
  for (let write = 0; write < 5; write++) {
    await delay(CHECKED_MS);
    await insertion.returningAll().execute();
  }
  await delay(CHECKED_MS);
  await kysely.executeQuery(CompiledQuery.raw("delete from notes"));
  assert.ok(checks >= 6, `${checks} checks of 6 writes`);
  await db.close();
});

function connect(dialect: Sqlite) {
  const connection = new DbConnection(dialect, DEFAULT_LIMITS);
  return { kysely: connection.kysely, close: () => connection.close() };
}

async function refusedAt(write: Promise<unknown>): Promise<number> {
  await assert.rejects(write, { name: "DbError", code: "PoolTimeout" });
  return performance.now();
}
