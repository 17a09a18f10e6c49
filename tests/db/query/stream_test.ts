import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import process from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sql } from "kysely";
import { belongsTo, DbOptions, DbService, field, hasMany, model } from "../../../src/db/mod.ts";
import { casesOf, testOnce } from "../../support/test.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Owner = model("owners", { id: field.integer().primaryKey(), name: field.text() });
const Item = model("items", {
  id: field.integer().primaryKey(),
  owner_id: field.integer().references(Owner),
  rank: field.integer().nullable(),
  flag: field.boolean(),
  price: field.decimal({ precision: 8, scale: 2 }).nullable(),
  at: field.timestamp().nullable(),
});
class Items extends DbService.with({ owner: Owner, item: Item }, {
  owner: { items: hasMany(Item.owner_id) },
  item: { owner: belongsTo(Item.owner_id) },
}) {}

const ROWS = 60;

async function open(url: string): Promise<Items> {
  const db = await Items.open(DbOptions.fromUrl(url).poolMax(1).acquireTimeoutMs(2000));
  await db.createTables();
  const [ann, bob] = await db.owner.createManyAndReturn({
    data: [{ name: "Ann" }, { name: "Bob" }],
  });
  await db.item.createMany({
    data: Array.from({ length: ROWS }, (_, n) => ({
      owner_id: (n % 3 === 0 ? ann! : bob!).id,
      rank: n % 5 === 0 ? null : n % 7,
      flag: n % 2 === 0,
      price: n % 4 === 0 ? null : `${n % 6}.5`,
      at: n % 8 === 0 ? null : new Date(n % 9),
    })),
  });
  return db;
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}

type Options = NonNullable<Parameters<Items["item"]["stream"]>[0]>;

testOnEach("Repository.stream() yields the rows of findMany()", async ({ url }) => {
  await using db = await open(url);
  const orders: Options["orderBy"][] = [
    undefined,
    { id: "desc" },
    { rank: "asc" },
    { rank: "desc" },
    [{ flag: "desc" }, { rank: "desc" }, { at: "asc" }],
    [{ price: "asc" }, { at: "desc" }, { id: "desc" }],
    [{ at: "desc" }, { price: "desc" }],
  ];
  for (const orderBy of orders) {
    for (const batchSize of [1, 2, 7, ROWS, ROWS + 1]) {
      const options = { where: { id: { not: 3 } }, orderBy };
      const expected = await db.item.findMany({ ...options, skip: 0 });
      const streamed = await all(db.item.stream({ ...options, batchSize }));
      assert.deepEqual(streamed, expected, JSON.stringify([orderBy, batchSize]));
      const page = { ...options, skip: 5, take: 20 };
      assert.deepEqual(
        await all(db.item.stream({ ...page, batchSize })),
        await db.item.findMany(page),
      );
    }
  }
  assert.equal((await all(db.item.stream())).length, ROWS);
  assert.deepEqual(await all(db.item.stream({ take: 0 })), []);
  assert.deepEqual(await all(db.item.stream({ where: { id: -1 } })), []);
});

testOnEach("Repository.stream() reads columns, relations and a scope", async ({ url }) => {
  await using db = await open(url);
  const options = {
    orderBy: { rank: "desc" },
    select: { price: true },
    include: { owner: { select: { name: true } } },
  } as const;
  const rows = await all(db.item.stream({ ...options, batchSize: 9 }));
  assert.deepEqual(rows, await db.item.findMany({ ...options, skip: 0 }));
  assert.deepEqual(Object.keys(rows[0]!), ["price", "owner"]);
  const scoped = db.item.scoped({ flag: true });
  const flagged = await all(scoped.stream({ batchSize: 4, include: { owner: true } }));
  assert.deepEqual(flagged, await scoped.findMany({ include: { owner: true } }));
  assert.equal(flagged.length, ROWS / 2);
});

testOnEach(
  "Repository.stream() keeps no connection, and works in transactions",
  async ({ url }) => {
    await using db = await open(url);
    let read = 0;
    for await (const row of db.item.stream({ batchSize: 10 })) {
      // There is one connection.
      await db.item.update({ where: { id: row.id }, data: { price: "7" } });
      row.id = 0;
      if (++read === 25) break;
    }
    assert.equal(await db.item.count({ where: { price: "7" } }), 25);
    const failure = new Error("no");
    await assert.rejects(
      db.transaction(async () => {
        await db.item.updateMany({ all: true, data: { price: "8" } });
        for await (const row of db.item.stream({ batchSize: 10 })) {
          assert.equal(row.price, "8.00");
          await db.transaction(() => db.item.delete({ where: { id: row.id } }));
          if (--read === 0) throw failure;
        }
      }),
      (error) => error === failure,
    );
    assert.equal(await db.item.count(), ROWS);
    assert.equal(await db.item.count({ where: { price: "8" } }), 0);
  },
);

testOnEach(
  "Repository.stream() stays in its transaction, whoever asks for rows",
  async ({ url }) => {
    await using db = await Items.open(DbOptions.fromUrl(url));
    await db.createTables();
    const outside = AsyncLocalStorage.snapshot();
    await db.transaction(async () => {
      await db.owner.createMany({ data: [{ name: "Ann" }, { name: "Bob" }] });
      assert.equal((await Array.fromAsync(db.owner.stream({ batchSize: 1 }))).length, 2);
      const owners = db.owner.stream({ batchSize: 1 });
      assert.equal((await owners.next()).value?.name, "Ann");
      assert.equal((await outside(() => owners.next())).value?.name, "Bob");
    });
  },
);

testOnEach("Repository.stream() reads what is committed, or its snapshot", async ({ url }) => {
  await using db = await open(url);
  await using other = await Items.open(DbOptions.fromUrl(url));
  const seen: (string | null)[] = [];
  const work = async () => {
    seen.length = 0;
    for await (const { price } of db.item.stream({ batchSize: ROWS / 2 })) {
      if (seen.push(price) === 1) await other.item.updateMany({ all: true, data: { price: "9" } });
    }
    await other.item.updateMany({ all: true, data: { price: "1" } });
  };
  await work();
  assert.equal(seen.filter((price) => price === "9.00").length, ROWS / 2);
  await db.transaction(work, { isolation: "repeatable read" });
  assert.equal(seen.filter((price) => price === "1.00").length, ROWS);
}, { brands: ["postgres", "mysql"] });

testOnEach("Repository.stream() limits each batch, and can be aborted", async ({ url }) => {
  await using db = await open(url);
  const controller = new AbortController();
  let read = 0;
  const rows = db.item.stream({ batchSize: 10, timeoutMs: 5000, signal: controller.signal });
  await assert.rejects(
    async () => {
      for await (const _ of rows) if (++read === 15) controller.abort();
    },
    dbError("StatementTimeout", "Cannot read items: it was aborted"),
  );
  assert.equal(read, 20);
  let slow = 0;
  for await (const _ of db.item.stream({ batchSize: 20, timeoutMs: 400 })) {
    if (slow++ % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 250));
  }
  assert.equal(slow, ROWS);
});

testOnEach("Repository.stream() refuses an order that its fields cannot represent", async (
  { brand, url },
) => {
  await using db = await open(url);
  const type = brand === "mysql" ? "modify at datetime(6)" : "alter at type timestamptz(6)";
  await sql.raw(`alter table items ${type}`).execute(db.kysely);
  await sql.raw("update items set at = '2020-01-01 00:00:00.123456'").execute(db.kysely);
  const stream = (batchSize: number) => all(db.item.stream({ orderBy: { at: "asc" }, batchSize }));
  const refusal = dbError(
    "Database",
    "Cannot read items: a column of its order is finer than its field",
  );
  for (const batchSize of [1, 7, ROWS - 1]) await assert.rejects(stream(batchSize), refusal);
  assert.equal((await stream(ROWS + 1)).length, ROWS);
}, { brands: ["postgres", "mysql"] });

testOnEach("Repository.stream() names what is wrong", async ({ url }) => {
  await using db = await open(url);
  const wrong = (options: object) => all(db.item.stream(options));
  const refusals: readonly (readonly [object, string, string])[] = [
    [{ batchSize: 0 }, "RangeError", "batchSize is not a whole number of 1 or more"],
    [{ batchSize: 1.5 }, "RangeError", "batchSize is not a whole number of 1 or more"],
    [{ take: -1 }, "RangeError", "take is not a whole number of 0 or more"],
    [{ take: 2000.5 }, "RangeError", "take is not a whole number of 0 or more"],
    [{ skip: -1 }, "RangeError", "skip is not a whole number of 0 or more"],
    [{ distinct: ["rank"] }, "TypeError", 'it takes no "distinct"'],
    [{ where: { nope: 1 } }, "TypeError", 'there is no column "nope"'],
    [{ where: undefined }, "TypeError", "where is undefined"],
    [{ orderBy: { nope: "asc" } }, "TypeError", 'there is no column "nope"'],
    [{ select: {} }, "TypeError", "select names no column"],
    [{ select: 5 }, "TypeError", "select is not a plain object"],
    [{ include: { nope: true } }, "TypeError", 'there is no relation "nope"'],
  ];
  for (const [options, name, reason] of refusals) {
    await assert.rejects(wrong(options), { name, message: `Cannot read items: ${reason}` });
  }
});

testOnEach("Repository.stream() reads many rows in bounded memory", async ({ brand, url }) => {
  await using db = await Items.open(DbOptions.fromUrl(url));
  await db.createTables();
  const { id } = await db.owner.create({ data: { name: "Ann" } });
  const rows = casesOf(1_000_000);
  const STEP = 50_000;
  for (let n = 0; n < rows; n += STEP) {
    await db.item.createMany({
      data: Array.from({ length: STEP }, () => ({
        owner_id: id,
        flag: true,
        price: "1.5",
        at: new Date(0),
      })),
    });
  }
  const collect = garbageCollector();
  const usedMiB: number[] = [];
  let read = 0;
  let sum = 0;
  for await (const row of db.item.stream()) {
    sum += row.id;
    if (read++ % (rows / 10) > 0) continue;
    collect();
    usedMiB.push(process.memoryUsage().heapUsed / 2 ** 20);
  }
  assert.equal(read, rows);
  const { _sum } = await db.item.aggregate({ _sum: { id: true } });
  assert.equal(_sum.id, sum);
  // The rows take over 40 MiB.
  assert.ok(usedMiB.at(-1)! - usedMiB[0]! < 20, `${brand}: ${usedMiB} MiB`);
}, { slow: true, register: testOnce });

function garbageCollector(): () => void {
  const { Bun } = globalThis as { Bun?: { gc(isForced: boolean): void } };
  if (Bun) return () => Bun.gc(true);
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}
