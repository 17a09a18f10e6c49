/** Loops of awaited operations, during which the event loop goes on. */
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { DbOptions } from "../../../src/db/mod.ts";
import { Db, testOnEach } from "../support/database.ts";

const LATE = { code: "StatementTimeout" };
/** How long a loop takes that nothing ends. */
const MAX_LOOP_MS = 5000;
/** How often a timer and a read must have had their time, until a loop ends. */
const TURNS = 5;

const LOOPS: Readonly<Record<string, (db: Db, goesOn: () => boolean) => Promise<void>>> = {
  "reads of a repository": async (db, goesOn) => {
    while (goesOn()) await db.user.findFirst();
  },
  "lookups by a key": async (db, goesOn) => {
    while (goesOn()) await db.user.findUnique({ where: { id: 1 } });
  },
  "queries of Kysely": async (db, goesOn) => {
    while (goesOn()) await db.kysely.selectFrom("users").selectAll().execute();
  },
  "streams of Kysely": async (db, goesOn) => {
    while (goesOn()) {
      for await (const _ of db.kysely.selectFrom("users").selectAll().stream(1)) {
        if (!goesOn()) break;
      }
    }
  },
  "nested transactions": async (db, goesOn) => {
    while (goesOn()) await db.transaction(() => db.user.count());
  },
};

/** Opens a database with some rows. */
async function open(url: string, transactionTimeoutMs = 60_000): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url).transactionTimeoutMs(transactionTimeoutMs));
  await db.createTables();
  await db.user.createMany({
    data: Array.from({ length: 20 }, (_, i) => ({ tenant_id: "a", email: `${i}`, name: "n" })),
  });
  return db;
}

function untilMs(ms: number): () => boolean {
  const endsAtMs = performance.now() + ms;
  return () => performance.now() < endsAtMs;
}

testOnEach("timers and I/O go on during a loop of operations", async ({ url }) => {
  await using db = await open(url);
  for (const [name, loop] of Object.entries(LOOPS)) {
    let ticks = 0;
    const timer = setInterval(() => ticks += 1, 10);
    let reads = 0;
    const isInTime = untilMs(MAX_LOOP_MS);
    const goesOn = () => isInTime() && (ticks < TURNS || reads < TURNS);
    const reading = (async () => {
      for (; goesOn(); reads++) await stat(".");
    })();
    await loop(db, goesOn).finally(() => clearInterval(timer));
    await reading;
    assert.ok(isInTime(), `${name}: ${ticks} ticks, ${reads} reads`);
  }
});

testOnEach("a transaction of many operations ends at its limit in time", async ({ url }) => {
  await using db = await open(url, 100);
  for (const [name, loop] of Object.entries(LOOPS)) {
    const goesOn = untilMs(MAX_LOOP_MS);
    await assert.rejects(db.transaction(() => loop(db, goesOn)), LATE, name);
    assert.ok(goesOn(), name);
  }
  const goesOn = untilMs(MAX_LOOP_MS);
  await assert.rejects(
    db.transaction(
      () =>
        db.transaction(() => LOOPS["reads of a repository"]!(db, goesOn), {
          timeoutMs: 50,
        }),
      { timeoutMs: 4000 },
    ),
    LATE,
  );
  assert.ok(goesOn());
});
