import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { DbError } from "../../../src/db/mod.ts";
import { openDb, testOnEach } from "../support/database.ts";
import { ADA, EVE, lost, SERVERS, testFault, works } from "./fault.ts";
import { sleep } from "../support/sessions.ts";
import { tcpLine } from "../support/tcp_line.ts";

testFault("DbService works on when idle connections were lost", async ({ db, kill }) => {
  await Promise.all([1, 2, 3].map(() => db.user.count()));
  await kill();
  assert.ok(await works(db));
});

testFault("DbService.transaction() fails between statements when its connection is lost", async (
  { db, kill },
) => {
  const lostInside = async (run: () => Promise<unknown>) => {
    await db.user.create({ data: ADA });
    await kill();
    await run();
  };
  await assert.rejects(
    db.transaction(() => lostInside(() => db.user.create({ data: EVE }))),
    lost("create users"),
  );
  await assert.rejects(
    db.transaction(() => lostInside(() => Promise.resolve())),
    lost("commit transaction"),
  );
  assert.ok(await works(db));
  assert.equal(await db.user.count(), 0);
});

testFault("DbService.transaction() fails in mid-statement, with all that waits for it", async (
  { brand, db, kill },
) => {
  const settled = db.transaction(() =>
    Promise.allSettled([
      sleep(brand, 5).execute(db.kysely),
      db.user.count(),
      db.user.create({ data: ADA }),
      db.user.findMany({ where: { name: "Ada", tenant_id: "a" } }),
      sleep(brand, 5).execute(db.kysely),
      db.user.create({ data: EVE }),
    ])
  );
  const failed = assert.rejects(settled);
  await delay(100);
  await kill();
  await failed;
  assert.ok(await works(db));
  assert.equal(await db.user.count(), 0);
});

testFault("an operation fails with ConnectionLost when the server goes in its midst", async (
  { db, line },
) => {
  await db.user.create({ data: ADA });
  const held = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const holding = assert.rejects(
    db.transaction(async () => {
      await db.user.update({ where: { email: ADA.email }, data: { name: "held" } });
      held.resolve();
      await promise;
    }),
    lost("commit transaction"),
  );
  await held.promise;
  const waiting = assert.rejects(
    db.user.updateMany({ where: { email: ADA.email }, data: { name: "late" } }),
    lost("update users"),
  );
  await delay(50);
  line.cut();
  resolve();
  await Promise.all([waiting, holding]);
  await line.restore();
  assert.ok(await works(db));
  // Whether the server still ran the statement that waited is unknown.
  assert.notEqual((await db.user.findFirst())?.name, "held");
});

for (const fault of ["cut", "down"] as const) {
  const state = fault === "cut" ? "ends each connection" : "is down";
  testFault(`DbService fails while the server ${state}, and works at once after`, async (
    { db, line },
  ) => {
    await Promise.all([1, 2, 3].map(() => db.user.count()));
    await line[fault]();
    await delay(20);
    const startMs = performance.now();
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        [1, 2, 3, 4, 5, 6].map(() => assert.rejects(db.user.count(), lost("count users"))),
      );
      await assert.rejects(db.ping(), lost("reach the database"));
      await assert.rejects(db.transaction(() => db.user.count()), lost("begin transaction"));
    }
    assert.ok(performance.now() - startMs < 3000, "it fails at once");
    await line.restore();
    assert.ok(await works(db));
  });
}

testFault("DbService stops waiting for a server that hangs, except inside a statement", async (
  { db, line, brand },
) => {
  line.hang();
  // A caller with a connection waits for as long as the server needs for the statement.
  const running = db.user.count().then(() => "done", (error: DbError) => error.code);
  const others = await Promise.allSettled([1, 2, 3, 4, 5].map(() => db.user.count()));
  assert.deepEqual(
    others.map((it) => it.status === "rejected" && it.reason.code),
    ["ConnectionLost", "ConnectionLost", "ConnectionLost", "PoolTimeout", "PoolTimeout"],
    brand,
  );
  assert.equal(await Promise.race([running, delay(50, "running")]), "running");
  await line.restore();
  assert.equal(await running, "ConnectionLost");
  assert.ok(await works(db));
});

testOnEach("DbService.close() ends while the server hangs", async ({ url }) => {
  await using line = await tcpLine(url);
  const db = await openDb(line.url);
  line.hang();
  const startMs = performance.now();
  await db.close();
  assert.ok(performance.now() - startMs < 6000);
}, { brands: SERVERS });
