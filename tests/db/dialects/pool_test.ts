import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { DbOptions } from "../../../src/db/mod.ts";
import { IdleConnections } from "../../../src/db/dialects/server/idle_connections.ts";
import { Subprocess } from "../../support/subprocess.ts";
import { test } from "../../support/test.ts";
import { type Brand, Db, dbError, testOnEach } from "../support/database.ts";
import { type ServerBrand, sessionsOf, sleep } from "../support/sessions.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };
const SERVERS = ["postgres", "mysql"] as const;
const MANY = Array.from({ length: 12 }, (_, i) => i);

interface Limits {
  readonly min?: number;
  readonly max: number;
  readonly timeoutMs?: number;
}

async function openPool(url: string, { min = 0, max, timeoutMs = 5000 }: Limits): Promise<Db> {
  const options = DbOptions.fromUrl(url).poolMin(min).poolMax(max).acquireTimeoutMs(timeoutMs);
  const db = await Db.open(options);
  await db.createTables();
  return db;
}

/** The database's sessions, once their number is `count`: ending a session takes a moment. */
async function sessionsSoon(brand: Brand, url: string, count: number): Promise<number> {
  let sessions = (await sessionsOf(brand as ServerBrand, url)).length;
  for (let i = 0; i < 250 && sessions !== count; i++) {
    await delay(20);
    sessions = (await sessionsOf(brand as ServerBrand, url)).length;
  }
  return sessions;
}

testOnEach("DbOptions.poolMax() bounds the sessions, whatever is used", async ({ brand, url }) => {
  await using db = await openPool(url, { max: 2 });
  assert.equal(await sessionsSoon(brand, url, 1), 1);
  const work = MANY.flatMap((i) => [
    sleep(brand, 0.02).execute(db.kysely),
    db.transaction(async () => {
      await db.user.create({ data: { ...ADA, email: `t${i}` } });
      await sleep(brand, 0.01).execute(db.kysely);
    }),
    db.kysely.transaction().execute(async (trx) => void await sleep(brand, 0.01).execute(trx)),
    db.user.count(),
  ]);
  const most = { sessions: 0 };
  let isDone = false;
  const settled = Promise.all(work).finally(() => isDone = true);
  while (!isDone) {
    await delay(10);
    most.sessions = Math.max(most.sessions, (await sessionsOf(brand as ServerBrand, url)).length);
  }
  await settled;
  assert.deepEqual(most, { sessions: 2 });
  assert.equal(await db.user.count(), MANY.length);
}, { brands: SERVERS });

testOnEach("DbOptions.poolMin() connects as often at boot", async ({ brand, url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url).poolMin(3).poolMax(5));
  assert.equal((await sessionsOf(brand as ServerBrand, url)).length, 3);
  await db.createTables();
  await db.user.count();
  assert.equal((await sessionsOf(brand as ServerBrand, url)).length, 3);
}, { brands: SERVERS });

test("IdleConnections ends connections that are idle for too long, oldest first, and keeps the minimum", async () => {
  const idleMs = 40;
  let open = 4;
  const ended: string[] = [];
  const ages: number[] = [];
  const addedMs = performance.now();
  const idle = new IdleConnections<string>({
    idleMs,
    surplus: () => open - 1,
    end: (name) => {
      open -= 1;
      ended.push(name);
      ages.push(performance.now() - addedMs);
    },
  });
  for (const name of ["a", "b", "c", "d"]) idle.add(name);
  assert.equal(idle.take(), "d");
  assert.deepEqual([idle.delete("b"), idle.delete("b"), idle.delete("e")], [true, false, false]);
  await delay(20);
  idle.add("b");
  for (let turn = 0; ended.length < 3 && turn < 400; turn++) await delay(5);
  assert.deepEqual([ended, open], [["a", "c", "b"], 1]);
  // A timer may be a millisecond early.
  assert.ok(ages.every((age, index) => age >= idleMs - 1 + (index === 2 ? 19 : 0)), String(ages));
  idle.add("d");
  await delay(3 * idleMs);
  assert.deepEqual([ended, idle.clear()], [["a", "c", "b"], ["d"]]);
  assert.equal(idle.take(), undefined);
});

testOnEach(
  "an operation that waits for too long is a PoolTimeout, and leaves nothing behind",
  async (
    { brand, url },
  ) => {
    await using db = await openPool(url, { max: 2, timeoutMs: 500 });
    const late = (action: string) =>
      dbError("PoolTimeout", `Cannot ${action}: the database was busy for too long`);
    for (let round = 0; round < 3; round++) {
      const held = Promise.withResolvers<void>();
      const begun = [0, 1].map(() => Promise.withResolvers<void>());
      const holding = begun.map(({ resolve }) =>
        db.transaction(async () => {
          await db.user.count();
          resolve();
          await held.promise;
        })
      );
      await Promise.all(begun.map(({ promise }) => promise));
      await Promise.all([
        assert.rejects(db.user.count(), late("count users")),
        assert.rejects(db.ping(), late("reach the database")),
        assert.rejects(db.transaction(() => 1), late("begin transaction")),
        assert.rejects(db.createTables(), late("create tables")),
        assert.rejects(sql`select 1`.execute(db.kysely), late("take a connection")),
        assert.rejects(
          db.kysely.transaction().execute(() => Promise.resolve()),
          late("take a connection"),
        ),
      ]);
      held.resolve();
      await Promise.all(holding);
    }
    // as many at once as the pool has connections: none waits, unless a place was lost
    for (const _ of MANY) {
      await Promise.all([0, 1].map(() => db.transaction(() => db.user.count())));
    }
    assert.equal(await sessionsSoon(brand, url, 2), 2);
  },
  { brands: SERVERS },
);

testOnEach("transactions that have all connections go on, with all that works inside them", async (
  { brand, url },
) => {
  await using db = await openPool(url, { max: 2, timeoutMs: 10_000 });
  await Promise.all(MANY.map((i) =>
    db.transaction(async () => {
      await db.user.create({ data: { ...ADA, email: `a${i}` } });
      await db.transaction(() => db.user.create({ data: { ...ADA, email: `b${i}` } }));
      await db.kysely.insertInto("users").values({ ...ADA, email: `c${i}` }).execute();
      await db.kysely.transaction().execute((trx) =>
        trx.insertInto("users").values({ ...ADA, email: `d${i}` }).execute()
      );
      await Promise.all([db.user.count(), db.user.findMany(), db.ping()]);
    })
  ));
  assert.equal(await db.user.count(), 4 * MANY.length, brand);
});

testOnEach("DbService.close() waits for operations in progress, and rejects new ones", async (
  { brand, url },
) => {
  const db = await openPool(url, { max: 3, timeoutMs: 10_000 });
  const begun = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const work = [
    db.transaction(async () => {
      await db.user.create({ data: ADA });
      begun.resolve();
      await closed.promise;
      await db.transaction(() => db.user.create({ data: { ...ADA, email: "late" } }));
      return await db.user.count();
    }),
    ...(brand === "sqlite" ? [] : [sleep(brand, 0.2).execute(db.kysely).then(() => 0)]),
  ];
  await begun.promise;
  await delay(30);
  let isClosed = false;
  const closing = db.close().then(() => isClosed = true);
  const refused = (action: string) =>
    dbError("PoolClosed", `Cannot ${action}: the database is closed`);
  await assert.rejects(db.user.count(), refused("count users"));
  await assert.rejects(db.transaction(() => 1), refused("begin transaction"));
  await assert.rejects(sql`select 1`.execute(db.kysely), refused("take a connection"));
  assert.equal(isClosed, false);
  closed.resolve();
  assert.deepEqual(await Promise.all(work), brand === "sqlite" ? [2] : [2, 0]);
  await closing;
  if (brand !== "sqlite") assert.equal(await sessionsSoon(brand, url, 0), 0);
  await using again = await openPool(url, { max: 1 });
  assert.equal(await again.user.count(), 2);
});

testOnEach("a process ends by itself once its database is closed", async ({ url }) => {
  await using child = new Subprocess("tests/db/dialects/close_fixture.ts", { args: [url] });
  const { code, output } = await child.ended;
  assert.deepEqual([code, output.trim()], [0, "closed"]);
}, { slow: ["sqlite", "mysql"] });

testOnEach("a statement that is given up closes its own connection alone", async (
  { brand, url },
) => {
  assert.ok(brand !== "sqlite");
  const options = DbOptions.fromUrl(url).poolMin(4).statementTimeoutMs(500);
  await using db = await Db.open(options);
  const before = await sessionsOf(brand, url);
  await assert.rejects(sleep(brand, 60).execute(db.kysely), { code: "StatementTimeout" });
  const kept = (await sessionsOf(brand, url)).filter((id) => before.includes(id));
  assert.deepEqual([before.length, kept.length], [4, 3]);
}, { brands: SERVERS });
