import assert from "node:assert/strict";
import type { FindManyOptions } from "../../../src/db/mod.ts";
import { type Db, testDbOnEach, User } from "../support/database.ts";

/** Ten users; the names of odd ones are "odd", of even ones "even". The ids are not in order. */
async function fillUsers(db: Db): Promise<void> {
  for (const id of [7, 3, 9, 1, 10, 2, 8, 4, 6, 5]) {
    const name = id % 2 === 0 ? "even" : "odd";
    await db.user.create({ data: { id, tenant_id: "a", email: `${id % 3}${id}`, name } });
  }
}

testDbOnEach("FindManyOptions order and bound the rows", async (db) => {
  await fillUsers(db);
  const table: readonly (readonly [FindManyOptions<typeof User>, readonly number[]])[] = [
    [{ take: 3 }, [1, 2, 3]],
    [{ skip: 8 }, [9, 10]],
    [{ skip: 2, take: 2 }, [3, 4]],
    [{ skip: 10 }, []],
    [{ take: 0 }, []],
    [{ take: Number.MAX_SAFE_INTEGER, skip: 9 }, [10]],
    [{ orderBy: { id: "desc" }, take: 2 }, [10, 9]],
    [{ orderBy: { name: "asc" }, take: 7 }, [2, 4, 6, 8, 10, 1, 3]],
    [{ orderBy: { name: "desc" }, skip: 4, take: 2 }, [9, 2]],
    [{ orderBy: [{ name: "desc" }, { id: "desc" }], take: 6 }, [9, 7, 5, 3, 1, 10]],
    [{ orderBy: { name: "desc", id: "desc" }, take: 1 }, [9]],
    [{ orderBy: [{ id: "asc" }, { id: "desc" }], take: 1 }, [1]],
    [{ orderBy: [User.name.order("asc"), User.email.order("desc")] }, [
      8,
      2,
      4,
      10,
      6,
      5,
      7,
      1,
      9,
      3,
    ]],
    [{ orderBy: [], where: { name: "odd" }, take: 2 }, [1, 3]],
  ];
  for (const [options, ids] of table) {
    const rows = await db.user.findMany(options);
    assert.deepEqual(rows.map(({ id }) => id), ids, JSON.stringify(options));
  }
});

testDbOnEach(
  "Repository.findMany() gives every row once over its pages, ties or not",
  async (db) => {
    await fillUsers(db);
    for (const orderBy of [undefined, { name: "asc" }, { tenant_id: "desc" }] as const) {
      const seen: number[] = [];
      for (let skip = 0; skip < 10; skip += 3) {
        seen.push(...(await db.user.findMany({ orderBy, skip, take: 3 })).map(({ id }) => id));
      }
      assert.deepEqual(seen.toSorted((a, b) => a - b), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
  },
);

testDbOnEach("Repository.findFirst() orders by the primary key by default", async (db) => {
  await fillUsers(db);
  assert.equal((await db.user.findFirst())?.id, 1);
  assert.equal((await db.user.findFirst({ where: { name: "even" }, skip: 1 }))?.id, 4);
  assert.equal((await db.user.findFirst({ orderBy: { id: "desc" } }))?.id, 10);
});

testDbOnEach(
  "FindManyOptions order null before every value, and text by code point",
  async (db) => {
    const texts = ["b", null, "A", "a", "ä", "B", "😀", "z", "", " ", "_"];
    await db.sample.createMany({
      data: texts.map((text, n) => ({ select: String.fromCharCode(97 + n), text })),
    });
    const order = async (text: "asc" | "desc") =>
      (await db.sample.findMany({ orderBy: { text } })).map(({ text }) => text);
    const sorted = [null, "", " ", "A", "B", "_", "a", "b", "z", "ä", "😀"];
    assert.deepEqual(await order("asc"), sorted);
    assert.deepEqual(await order("desc"), sorted.toReversed());
  },
);

testDbOnEach("FindManyOptions.distinct keeps the first row of each, before take", async (db) => {
  await fillUsers(db);
  const ids = async (options: FindManyOptions<typeof User>) =>
    (await db.user.findMany(options)).map(({ id }) => id);
  assert.deepEqual(await ids({ distinct: ["name"], orderBy: { id: "asc" } }), [1, 2]);
  assert.deepEqual(await ids({ distinct: ["name"], orderBy: { id: "desc" } }), [10, 9]);
  assert.deepEqual(await ids({ distinct: ["name"], orderBy: { id: "desc" }, take: 1 }), [10]);
  assert.deepEqual(await ids({ distinct: ["name"], take: 5, skip: 1 }), [2]);
  assert.deepEqual(await ids({ distinct: ["name"], where: { id: { gt: 2 } }, take: 9 }), [3, 4]);
  assert.equal((await ids({ distinct: ["name", "email"] })).length, 10);
  assert.equal((await ids({ distinct: [] })).length, 10);
  assert.equal(await db.user.count({ distinct: ["name"] }), 2);
  assert.equal(await db.user.count({ distinct: ["name"], where: { name: "odd" } }), 1);
  assert.deepEqual(
    await db.user.findMany({
      distinct: ["name"],
      orderBy: { name: "asc" },
      select: { name: true },
    }),
    [{ name: "even" }, { name: "odd" }],
  );
});

testDbOnEach(
  "FindManyOptions.distinct finds each selected value once, in its order",
  async (db) => {
    const row = (n: number) => ({
      select: `${n}`,
      integer: n % 3 === 0 ? null : n % 3,
      text: ["b", "B", null, "a"][n % 4],
    });
    await db.sample.createMany({ data: Array.from({ length: 24 }, (_, n) => row(n)) });
    const select = { integer: true, text: true } as const;
    const find = async (options: object) => {
      const found = await db.sample.findMany({ select, distinct: ["text", "integer"], ...options });
      return found.map(({ integer, text }) => `${integer ?? ""}${text ?? ""}`).join();
    };
    const orders = [{ integer: "desc" }, { text: "asc" }] as const;
    assert.equal(await find({ orderBy: orders }), "2,2B,2a,2b,1,1B,1a,1b,,B,a,b");
    assert.equal(await find({ orderBy: orders, skip: 3, take: 2 }), "2b,1");
    assert.equal(await find({ orderBy: orders.toReversed(), where: { integer: 1 } }), "1,1B,1a,1b");
    // By the first row of each.
    assert.equal(await find({ where: { integer: 1 } }), "1B,1,1b,1a");
    assert.equal(await find({ orderBy: { integer: "asc" }, take: 4 }), "b,a,,B");
  },
);

testDbOnEach("FindManyOptions rejects unknown columns", async (db) => {
  const table: readonly (readonly [object, string])[] = [
    [{ distinct: ["nope"] }, 'there is no column "nope"'],
    [{ distinct: "name" }, "distinct is not a list"],
    [{ distinct: [{ name: true }] }, 'there is no column {"name":true}'],
    [{ select: { 'id" from users --': true } }, 'there is no column "id\\" from users --"'],
    [{ select: { id: false } }, "select.id is not true"],
    [{ select: { id: "users.id" } }, "select.id is not true"],
    [{ select: { id: undefined } }, "select.id is undefined"],
    [{ select: {} }, "select names no column"],
    [{ select: ["id"] }, "select is not a plain object"],
  ];
  for (const [options, reason] of table) {
    await assert.rejects(db.user.findMany(options), {
      name: "TypeError",
      message: `Cannot read users: ${reason}`,
    });
  }
  await assert.rejects(db.sample.findMany({ orderBy: { json: "asc" } as never }), {
    name: "TypeError",
    message: "Cannot read order: json has no order",
  });
  await assert.rejects(db.sample.count({ distinct: ["json"] as never }), {
    name: "TypeError",
    message: "Cannot count order: json cannot be distinct",
  });
});

testDbOnEach("FindManyOptions rejects invalid orders and bounds", async (db) => {
  const bound = "is not a whole number of 0 or more";
  const table: readonly (readonly [unknown, string, string])[] = [
    [{ orderBy: { nope: "asc" } }, "TypeError", 'there is no column "nope"'],
    [{ orderBy: { id: "asc, (select 1)" } }, "TypeError", "the order of id is not asc or desc"],
    [{ orderBy: { id: undefined } }, "TypeError", "orderBy.id is undefined"],
    [{ orderBy: "id" }, "TypeError", "orderBy is not a plain object"],
    [{ orderBy: null }, "TypeError", "orderBy is not a plain object"],
    [{ take: -1 }, "RangeError", `take ${bound}`],
    [{ take: 1.5 }, "RangeError", `take ${bound}`],
    [{ take: NaN }, "RangeError", `take ${bound}`],
    [{ take: "1" }, "RangeError", `take ${bound}`],
    [{ take: null }, "RangeError", `take ${bound}`],
    [{ skip: -1 }, "RangeError", `skip ${bound}`],
    [{ skip: Infinity }, "RangeError", `skip ${bound}`],
  ];
  for (const [options, name, reason] of table) {
    await assert.rejects(
      db.user.findMany(options as FindManyOptions<typeof User>),
      { name, message: `Cannot read users: ${reason}` },
      JSON.stringify(options),
    );
  }
});
