/** Commits of PostgreSQL that wait for a synchronous standby, which is away. */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { Db } from "../support/database.ts";
import { SKIP_OWN, startOwnServer } from "../support/own_servers.ts";

const LOCAL = "?options=-c%20synchronous_commit%3Dlocal";

test("a commit that no standby has confirmed is not acknowledged", async () => {
  await using server = await startOwnServer("postgres", {
    settings: { synchronous_standby_names: "*" },
  });
  await using local = await Db.open(DbOptions.fromUrl(server.url + LOCAL));
  await local.createTables();
  await using db = await Db.open(DbOptions.fromUrl(server.url).poolMax(1));
  const writes = [
    () => db.user.create({ data: user("a") }),
    () => db.user.createMany({ data: [user("b")] }),
    () => db.transaction(() => db.user.create({ data: user("c") })),
    () => db.kysely.insertInto("users").values(user("d")).execute(),
    () =>
      db.kysely.transaction().execute((kysely) =>
        kysely.insertInto("users").values(user("e")).execute()
      ),
  ];
  for (const [before, write] of writes.entries()) {
    const cancelled = assert.rejects(write(), { code: "ConnectionLost" });
    while (await cancelWaiting(local) === 0) await delay(10);
    await cancelled;
    assert.equal(await db.user.count(), before + 1);
  }
  await using late = await Db.open(DbOptions.fromUrl(server.url).statementTimeoutMs(300));
  const creating = late.user.create({ data: user("f") });
  await assert.rejects(creating, { code: "StatementTimeout" });
  const transaction = late.transaction(() => late.user.create({ data: user("g") }));
  await assert.rejects(transaction, { code: "StatementTimeout" });
  assert.equal(await db.user.count(), writes.length + 2);
}, { skip: SKIP_OWN.postgres, slow: true });

function user(name: string) {
  return { tenant_id: "a", email: `${name}@example.org`, name };
}

/** Cancels the commits that wait for a standby; returns how many there were. */
async function cancelWaiting(db: Db): Promise<number> {
  const { rows } = await sql`
    select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`
    .execute(db.kysely);
  return rows.length;
}
