import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { ADA, EVE, rejectsAsLost, testFault, works } from "./fault.ts";
import { sleep } from "../support/sessions.ts";

testFault(
  "DbService.kysely fails and works again when the server goes",
  async ({ brand, db, kill }) => {
    const midway = async (run: () => Promise<unknown>) => {
      const failed = rejectsAsLost(run);
      await delay(150);
      await kill();
      await failed;
      assert.ok(await works(db));
    };
    await midway(() => sleep(brand, 5).execute(db.kysely));
    await midway(() =>
      db.kysely.transaction().execute(async (trx) => {
        const running = sleep(brand, 5).execute(trx);
        const waiting = trx.selectFrom("users").selectAll().where("name", "=", "x").execute();
        const settled = await Promise.allSettled([running, waiting, sql`select 1`.execute(trx)]);
        assert.deepEqual(settled.map(({ status }) => status), Array(3).fill("rejected"));
      })
    );
    await rejectsAsLost(() =>
      db.kysely.transaction().execute(async (trx) => {
        await trx.insertInto("users").values(ADA).execute();
        await kill();
        await trx.insertInto("users").values(EVE).execute();
      })
    );
    assert.equal(await db.user.count(), 0);
  },
);

testFault(
  "a stream of DbService.kysely never ends early in silence",
  async ({ brand, db, kill }) => {
    const data = Array.from({ length: 2000 }, (_, i) => ({
      ...ADA,
      email: String(i),
      name: "n".repeat(20_000),
    }));
    for (let i = 0; i < data.length; i += 200) {
      await db.user.createMany({ data: data.slice(i, i + 200) });
    }
    const users = db.kysely.selectFrom("users").selectAll();
    await rejectsAsLost(async () => {
      let count = 0;
      for await (const _ of users.stream(10)) if (++count === 5) await kill();
    });
    // The rest of a stream must not end the process either.
    for await (const _ of users.stream(10)) {
      await kill();
      break;
    }
    // what the server has sent is read before its end
    const pings = () => db.ping().then(() => true, () => false);
    for (let i = 0; i < 100 && !await pings(); i++) await delay(50);
    assert.ok(await works(db));
    await rejectsAsLost(() =>
      db.kysely.transaction().execute(async (trx) => {
        await sql`select 1`.execute(trx);
        await kill();
        for await (const _ of trx.selectFrom("users").selectAll().stream(10)) assert.fail();
      })
    );
    const slow = brand === "postgres" ? sql`pg_sleep(5)::text` : sql`sleep(5)`;
    const stream = rejectsAsLost(async () => {
      for await (const _ of db.kysely.selectNoFrom(slow.as("slept")).stream(10)) assert.fail();
    });
    await delay(200);
    await kill();
    await stream;
    assert.ok(await works(db));
  },
);
