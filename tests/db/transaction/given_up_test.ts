import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { SERVERS } from "../dialects/fault.ts";
import { Db, openDb, testOnEach } from "../support/database.ts";
import { SKIP_PGBOUNCER, startPgBouncer } from "../support/pgbouncer.ts";
import { createDatabase } from "../support/servers.ts";
import { runningStatements, sleep } from "../support/sessions.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };
const EVE = { ...ADA, email: "eve@example.org" };
const LATE = { code: "StatementTimeout" };

testOnEach("a begin that is given up leaves no transaction open", async ({ url }) => {
  await using db = await openDb(url);
  const other = new DatabaseSync(url.slice("sqlite:".length));
  other.exec("begin immediate");
  const creating = db.transaction(() => db.user.create({ data: ADA }), { timeoutMs: 100 });
  await assert.rejects(creating, LATE);
  other.exec("commit");
  await db.user.create({ data: EVE });
  await db.transaction(() => db.user.count());
  other.exec("begin immediate; rollback");
  assert.deepEqual(other.prepare("select email from users").all().map((it) => ({ ...it })), [{
    email: EVE.email,
  }]);
  other.close();
}, { brands: ["sqlite"] });

testOnEach(
  "a begin that is given up as it succeeds leaves no transaction open",
  async ({ url }) => {
    for (let hops = 0; hops < 12; hops++) {
      await using db = await openDb(url);
      await db.user.deleteMany({ all: true });
      const stop = new AbortController();
      const failed = async () => {
        for (let hop = 0; hop < hops; hop++) await undefined; // one of the aborts coincides with the begin
        stop.abort();
      };
      const first = db.transaction(async () => {
        await delay(5);
        throw new Error("failed");
      }).catch(failed);
      const second = db.transaction(() => db.user.create({ data: ADA }), { signal: stop.signal });
      await Promise.allSettled([first, second]);
      await db.transaction(() => db.user.deleteMany({ all: true }));
      await db.user.create({ data: EVE });
      const other = new DatabaseSync(url.slice("sqlite:".length));
      assert.equal(
        other.prepare("select email from users").get()?.email,
        EVE.email,
        `${hops} hops`,
      );
      other.close();
    }
  },
  { brands: ["sqlite"] },
);

testOnEach("the operation after one that was given up has a connection", async (
  { brand, url },
) => {
  await using db = await Db.open(DbOptions.fromUrl(url).statementTimeoutMs(500).poolMax(2));
  await db.createTables();
  for (let time = 0; time < 2; time++) {
    await assert.rejects(sleep(brand, 60).execute(db.kysely), LATE);
    assert.equal(await db.user.count(), 0);
    const slept = db.kysely.transaction().execute((kysely) => sleep(brand, 60).execute(kysely));
    await assert.rejects(slept, LATE);
    assert.equal(await db.user.count(), 0);
  }
}, { brands: SERVERS });

testOnEach("of several statements of a transaction, the one that runs is cancelled", async (
  { brand, url },
) => {
  assert.ok(brand !== "sqlite");
  await using db = await openDb(url);
  await db.user.createMany({ data: [ADA, EVE] });
  const held = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holder = db.transaction(async () => {
    await db.user.update({ where: { email: ADA.email }, data: { name: "held" } });
    held.resolve();
    await release.promise;
  });
  await held.promise;
  const waiting = db.transaction(async () => {
    await db.user.update({ where: { email: EVE.email }, data: { name: "mine" } });
    await Promise.all([
      db.user.count(),
      db.user.updateMany({ where: ADA, data: { name: "late" } }),
      db.user.count(),
    ]);
  }, { timeoutMs: 300 });
  await assert.rejects(waiting, LATE);
  await db.user.update({ where: { email: EVE.email }, data: { name: "free" }, timeoutMs: 5000 });
  const updates = (await runningStatements(brand, url)).filter((it) => it.includes("update"));
  assert.deepEqual(updates, []);
  release.resolve();
  await holder;
}, { brands: SERVERS });

testOnEach("a signal that is aborted already ends the wait for a connection", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMax(1));
  await db.createTables();
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const holder = db.transaction(async () => {
    entered.resolve();
    await release.promise;
  });
  await entered.promise;
  const signal = AbortSignal.abort();
  await assert.rejects(db.transaction(() => {}, { signal }), LATE);
  await assert.rejects(db.user.create({ data: ADA, signal }), LATE);
  release.resolve();
  await holder;
}, { brands: SERVERS });

test("statements that are given up behind PgBouncer reach nobody else", async () => {
  await using database = await createDatabase("postgres");
  await using bouncer = await startPgBouncer("transaction");
  await using db = await openDb(bouncer.url(database.url));
  await using other = await Db.open(DbOptions.fromUrl(bouncer.url(database.url)));
  const endMs = performance.now() + 2000;
  const isOn = () => performance.now() < endMs;
  const abort = async () => {
    while (isOn()) {
      const stop = new AbortController();
      setTimeout(() => stop.abort(), Math.random() * 25);
      const slow = async () => void await sleep("postgres", 0.01).execute(db.kysely);
      await db.transaction(slow, { signal: stop.signal }).catch(() => {});
      await delay(20);
    }
  };
  const work = async () => {
    while (isOn()) await sleep("postgres", 0.003).execute(other.kysely);
  };
  await Promise.all([abort(), abort(), abort(), work(), work(), work()]);
  assert.equal(await other.user.count(), 0);
}, { skip: SKIP_PGBOUNCER, slow: true });

testOnEach("close() ends a transaction whose function never ends", async ({ url }) => {
  const db = await openDb(url);
  const endless = assert.rejects(db.transaction(() => new Promise(() => {})), LATE);
  await db.close();
  await endless;
}, { slow: true });
