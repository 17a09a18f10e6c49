/** A SQLite file that another writer locks, or that is removed. */
import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db, dbError, openDb, temporaryFolder } from "../support/database.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };
const EVE = { ...ADA, email: "eve@example.org" };
const gone = (action: string) =>
  dbError("ConnectionLost", `Cannot ${action}: its file was removed or replaced`);

test("a write waits for another writer of a SQLite file, and does not block the process", async () => {
  await using folder = await temporaryFolder();
  const path = folder.path("data.sqlite");
  await using db = await openDb(`sqlite:${path}`);
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  const writes = Promise.all([
    db.user.create({ data: ADA }),
    db.kysely.insertInto("users").values(EVE).execute(),
    db.transaction(() => db.user.create({ data: { ...ADA, email: "tom" } })),
  ]);
  await delay(50);
  assert.equal(await db.user.count(), 0);
  other.exec("commit");
  await writes;
  assert.equal(await db.user.count(), 3);
  other.close();
});

test("a write that waits for too long for another writer is a PoolTimeout", async () => {
  await using folder = await temporaryFolder();
  const path = folder.path("data.sqlite");
  await using db = await Db.open(DbOptions.fromUrl(`sqlite:${path}`).acquireTimeoutMs(50));
  await db.createTables();
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  const busy = (action: string) =>
    dbError("PoolTimeout", `Cannot ${action}: the database was busy for too long`);
  await assert.rejects(db.user.create({ data: ADA }), busy("create users"));
  await assert.rejects(db.transaction(() => db.user.count()), busy("begin transaction"));
  other.exec("commit");
  other.close();
  await db.user.create({ data: ADA });
});

test("no write is acknowledged while the SQLite file is away, and it works when it is back", async () => {
  await using folder = await temporaryFolder();
  const path = folder.path("data.sqlite");
  await using db = await openDb(`sqlite:${path}`);
  await moveAway(path);
  await assert.rejects(db.user.create({ data: ADA }), gone("create users"));
  await assert.rejects(db.ping(), gone("reach the database"));
  await assert.rejects(db.transaction(() => db.user.count()), gone("begin transaction"));
  writeFileSync(path, "");
  await assert.rejects(db.user.count(), gone("count users"));
  renameSync(`${path}.away`, path);
  await db.ping();
  await db.user.create({ data: EVE });
});

test("a transaction is not committed to a SQLite file that is gone, and leaves none open", async () => {
  await using folder = await temporaryFolder();
  const path = folder.path("data.sqlite");
  await using db = await openDb(`sqlite:${path}`);
  await assert.rejects(
    db.transaction(async () => {
      await db.user.create({ data: ADA });
      await moveAway(path);
    }),
    gone("commit transaction"),
  );
  renameSync(`${path}.away`, path);
  await db.ping();
  await db.transaction(() => db.user.create({ data: EVE }));
});

/** Moves a file, and waits until the next write checks it. */
async function moveAway(path: string): Promise<void> {
  renameSync(path, `${path}.away`);
  await delay(15);
}
