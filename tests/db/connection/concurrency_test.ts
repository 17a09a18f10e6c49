import assert from "node:assert/strict";
import { DbError, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import {
  type Brand,
  type EachOptions,
  type TestDatabase,
  testOnEach,
} from "../support/database.ts";

const Account = model("accounts", {
  id: field.integer().primaryKey(),
  owner: field.text().unique(),
  cents: field.integer().default(0),
});
class Bank extends DbService.with({ account: Account }) {}

/** Runs a test on a bank on each database; a thousand callers may wait for a connection. */
function testBankOnEach(
  name: string,
  run: (bank: Bank, brand: Brand) => Promise<void>,
  options: EachOptions = {},
): void {
  testOnEach(name, async ({ brand, url }: TestDatabase) => {
    await using bank = await Bank.open(DbOptions.fromUrl(url).acquireTimeoutMs(60_000));
    await bank.createTables();
    await run(bank, brand);
  }, options);
}

/** Lets timers and input and output come first. */
function pause(ms = 5): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

testBankOnEach(
  "DbService.transaction() keeps the sum of money that a thousand of them move",
  async (bank) => {
    const size = 40;
    const ids = Array.from({ length: size }, (_, index) => index + 1);
    await bank.account.createMany({ data: ids.map((id) => ({ id, owner: `${id}`, cents: 50 })) });
    const transfer = async (from: number, to: number, cents: number) => {
      const source = await bank.account.findUnique({ where: { id: from } });
      const target = await bank.account.findUnique({ where: { id: to } });
      assert.ok(source && target);
      if (source.cents < cents) return false;
      const balances = [[from, source.cents - cents], [to, target.cents + cents]] as const;
      // in one order: PostgreSQL takes a second to notice each deadlock
      for (const [id, cents] of balances.toSorted(([a], [b]) => a - b)) {
        await bank.account.update({ where: { id }, data: { cents } });
      }
      return true;
    };
    const moved = await Promise.all(Array.from({ length: 1000 }, (_, index) => {
      const from = 1 + index * 7 % size;
      const to = 1 + (from + index % (size - 1)) % size;
      return bank.transaction(
        () => transfer(from, to, 1 + index * 13 % 60),
        { isolation: "serializable", retries: 100 },
      );
    }));
    const cents = (await bank.account.findMany()).map(({ cents }) => cents);
    assert.equal(cents.reduce((sum, part) => sum + part), size * 50);
    assert.ok(Math.min(...cents) >= 0, `${cents}`);
    // Some found too little on the account.
    assert.deepEqual(new Set(moved), new Set([true, false]));
  },
  { slow: ["postgres", "mysql"] },
);

testBankOnEach("Repository.upsert() leaves one row when two hundred have one key", async (bank) => {
  for (const where of [{ owner: "ada" }, { id: 7 }]) {
    const upserts = Array.from(
      { length: 200 },
      (_, cents) =>
        bank.account.upsert({ where, create: { owner: "ada", ...where }, update: { cents } }),
    );
    const rows = await Promise.all(upserts);
    const [row] = await bank.account.findMany();
    assert.equal(await bank.account.count(), 1);
    assert.deepEqual(
      new Set(rows.map(({ id, owner }) => `${id} ${owner}`)),
      new Set([`${row?.id} ada`]),
    );
    assert.ok(rows.some(({ cents }) => cents === row?.cents));
    await bank.account.deleteMany({ all: true });
  }
});

testBankOnEach("DbService.transaction() lets no statement of another slip in", async (bank) => {
  const others: Promise<unknown>[] = [];
  let request = 0;
  const timer = setInterval(() => {
    others.push(bank.account.create({ data: { owner: `other ${++request}` } }));
  }, 1);
  const transaction = bank.transaction(async () => {
    for (let index = 0; index < 10; index++) {
      await bank.account.create({ data: { owner: `mine ${index}` } });
      await pause();
    }
    throw new Error("roll back");
  });
  await assert.rejects(transaction, { message: "roll back" });
  clearInterval(timer);
  await Promise.all(others);
  assert.ok(others.length > 1);
  const rows = await bank.account.findMany({ select: { owner: true } });
  const expected = others.map((_, index) => `other ${index + 1}`);
  assert.deepEqual(rows.map(({ owner }) => owner).toSorted(), expected.toSorted());
});

testBankOnEach(
  "DbService.transaction() leaves readers what was last committed, and they do not wait",
  async (bank) => {
    await bank.account.create({ data: { id: 1, owner: "ada", cents: 1 } });
    const begun = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    const transaction = bank.transaction(async () => {
      await bank.account.update({ where: { id: 1 }, data: { cents: 2 } });
      await bank.account.create({ data: { owner: "bea" } });
      begun.resolve();
      // Would never end if they waited.
      await read.promise;
    });
    await begun.promise;
    const before = { id: 1, owner: "ada", cents: 1 };
    assert.deepEqual(await bank.account.findMany(), [before]);
    assert.deepEqual(await bank.account.findUnique({ where: { id: 1 } }), before);
    assert.equal(await bank.account.exists({ where: { owner: "bea" } }), false);
    read.resolve();
    await transaction;
    assert.deepEqual((await bank.account.findUnique({ where: { id: 1 } }))?.cents, 2);
    assert.equal(await bank.account.count(), 2);
  },
);

testBankOnEach(
  "DbService.transaction() undoes nested ones that run at once each alone",
  async (bank) => {
    await bank.transaction(async () => {
      const nested = Array.from({ length: 10 }, (_, index) =>
        bank.transaction(async () => {
          await bank.account.create({ data: { owner: `${index}` } });
          await pause(10 - index);
          await bank.transaction(() => bank.account.create({ data: { owner: `${index} inside` } }));
          if (index % 2 === 1) throw new Error(`${index}`);
        }));
      const between = bank.account.create({ data: { owner: "between" } });
      const settled = await Promise.allSettled(nested);
      assert.deepEqual(
        settled.map(({ status }) => status === "rejected"),
        settled.map((_, index) => index % 2 === 1),
      );
      await between;
    });
    const rows = await bank.account.findMany({ select: { owner: true } });
    const kept = [0, 2, 4, 6, 8].flatMap((index) => [`${index}`, `${index} inside`]);
    assert.deepEqual(rows.map(({ owner }) => owner).toSorted(), [...kept, "between"].toSorted());
  },
);

testBankOnEach("DbService.transaction() rejects operations after its end", async (bank) => {
  let late: Promise<unknown>[] = [];
  await bank.transaction(async () => {
    await bank.account.create({ data: { owner: "in time" } });
    const later = pause(20);
    late = [
      later.then(() => bank.account.create({ data: { owner: "late" } })),
      later.then(() => bank.account.findMany()),
      later.then(() => bank.kysely.selectFrom("accounts").select("id").execute()),
      later.then(() => bank.transaction(() => bank.account.count())),
    ];
    for (const work of late) work.catch(() => {});
  });
  for (const work of late) {
    await assert.rejects(work, {
      name: "TypeError",
      message: /its transaction has ended, which did not await it$/,
    });
  }
  assert.deepEqual((await bank.account.findMany()).map(({ owner }) => owner), ["in time"]);
});

testBankOnEach(
  "DbService.transaction() commits after a failure that was caught, but on PostgreSQL",
  async (bank, brand) => {
    await bank.account.create({ data: { owner: "ada" } });
    const transaction = bank.transaction(async () => {
      await bank.account.create({ data: { owner: "bea" } });
      await assert.rejects(bank.account.create({ data: { owner: "ada" } }), {
        code: "UniqueViolation",
      });
    });
    if (brand === "postgres") {
      await assert.rejects(transaction, (error) => {
        assert.ok(error instanceof DbError && error.cause instanceof Error);
        assert.equal(error.code, "Database");
        assert.match(error.message, /^Cannot commit transaction: /);
        return true;
      });
    } else await transaction;
    assert.equal(await bank.account.count(), brand === "postgres" ? 1 : 2);
  },
);

testBankOnEach(
  "DbService.transaction() retries serialization failures if that is asked for",
  async (bank, brand) => {
    await bank.account.create({ data: { id: 1, owner: "ada" } });
    let attempts = 0;
    const cents = async () => (await bank.account.findUnique({ where: { id: 1 } }))!.cents;
    const increment = (retries?: number) =>
      bank.transaction(async () => {
        attempts += 1;
        const data = { cents: await cents() + 1 };
        await pause(1);
        await bank.account.update({ where: { id: 1 }, data });
      }, { isolation: "serializable", retries });
    const once = await Promise.allSettled(Array.from({ length: 10 }, () => increment()));
    const failures = once.flatMap((it) => it.status === "rejected" ? [it.reason] : []);
    assert.equal(attempts, 10);
    assert.equal(await cents(), 10 - failures.length);
    // SQLite's transactions follow one another.
    assert.equal(failures.length > 0, brand !== "sqlite");
    for (const failure of failures) {
      assert.equal(failure.code, "SerializationFailure", String(failure));
    }

    await Promise.all(Array.from({ length: 10 }, () => increment(50)));
    assert.equal(await cents(), 20 - failures.length);
    assert.equal(attempts > 20, brand !== "sqlite");
  },
);
