import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { mistake, testOnEach } from "../support/database.ts";

const Account = model("accounts", {
  id: field.integer().primaryKey(),
  owner: field.text().unique(),
  cents: field.integer().default(0),
  points: field.bigint().nullable(),
  rate: field.real().default(1),
  euros: field.decimal({ precision: 10, scale: 2 }).default("0"),
  rank: field.integer().unique().nullable(),
});
class Bank extends DbService.with({ account: Account }) {}

function testBankOnEach(name: string, run: (db: Bank) => Promise<void>): void {
  testOnEach(name, async ({ url }) => {
    await using db = await Bank.open(DbOptions.fromUrl(url));
    await db.createTables();
    await db.account.create({ data: { owner: "ada", points: 2n ** 53n } });
    await run(db);
  });
}

testBankOnEach("UpdateInput increments and decrements stored numbers", async (db) => {
  const where = { owner: "ada" };
  const changed = await db.account.update({
    where,
    data: {
      cents: { increment: 5 },
      points: { increment: 1n },
      rate: { decrement: 0.5 },
      euros: { increment: "12.50" },
    },
  });
  assert.deepEqual(changed, {
    id: 1,
    owner: "ada",
    cents: 5,
    points: 2n ** 53n + 1n,
    rate: 0.5,
    euros: "12.50",
    rank: null,
  });
  assert.equal(await db.account.updateMany({ where, data: { cents: { decrement: 7 } } }), 1);
  const upserted = await db.account.upsert({
    where,
    create: { owner: "ada" },
    update: { cents: { increment: 1 }, euros: { decrement: "0.25" } },
  });
  assert.deepEqual([upserted.cents, upserted.euros], [-1, "12.25"]);
  await db.account.update({ where, data: { rank: 7 } });
  const ranked = await db.account.update({ where: { rank: 7 }, data: { rank: { increment: 1 } } });
  assert.equal(ranked.rank, 8);
  const empty = await db.account.create({ data: { owner: "bea" } });
  const nothing = await db.account.update({
    where: { id: empty.id },
    data: { points: { increment: 1n } },
  });
  assert.equal(nothing.points, null);
});

testBankOnEach("UpdateInput loses no change of many at once", async (db) => {
  await Promise.all(
    Array.from(
      { length: 100 },
      () => db.account.update({ where: { id: 1 }, data: { cents: { increment: 1 } } }),
    ),
  );
  assert.equal((await db.account.findUnique({ where: { id: 1 } }))?.cents, 100);
});

testBankOnEach("UpdateInput rejects invalid changes", async (db) => {
  const wrong: readonly (readonly [object, string])[] = [
    [{ owner: { increment: 1 } }, "owner takes a string, not object"],
    [{ cents: { increment: "1" } }, "cents takes a number, not string"],
    [{ cents: { increment: null } }, "cents takes a number, not null"],
    [{ cents: { multiply: 2 } }, "cents takes a number, not object"],
    [{ cents: {} }, "cents takes a number, not object"],
    [{ cents: { increment: 1, decrement: 1 } }, "cents takes a number, not object"],
  ];
  for (const [data, reason] of wrong) {
    await assert.rejects(
      db.account.update({ where: { id: 1 }, data }),
      mistake(`Cannot update accounts: ${reason}`),
    );
  }
});
