import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, dbError, mistake, testOnEach } from "../support/database.ts";

const Sale = model("order", {
  id: field.integer().primaryKey(),
  group: field.text(),
  amount: field.integer().nullable(),
  big: field.bigint().nullable(),
  price: field.decimal({ precision: 18, scale: 2 }).nullable(),
  ratio: field.real().nullable(),
  open: field.boolean().nullable(),
  at: field.timestamp().nullable(),
  code: field.uuid().nullable(),
  bytes: field.blob().nullable(),
  meta: field.json().nullable(),
});
class Sales extends DbService.with({ sale: Sale }) {}

const MAX_INT64 = 2n ** 63n - 1n;
const uuid = (digit: string) => `${digit}0000000-0000-4000-8000-000000000000`;
const ROWS = [
  {
    group: "a",
    amount: 1,
    big: MAX_INT64,
    price: "0.10",
    ratio: 0.5,
    open: true,
    at: new Date("2020-02-03T04:05:06.789Z"),
    code: uuid("b"),
    bytes: Uint8Array.of(1, 255),
    meta: { a: 1 },
  },
  {
    group: "a",
    amount: 2,
    big: MAX_INT64,
    price: "0.10",
    ratio: 0.25,
    open: false,
    at: new Date("2019-02-03T04:05:06.001Z"),
    code: uuid("9"),
    bytes: Uint8Array.of(1),
    meta: [],
  },
  { group: "b", amount: 2, big: -5n, price: "-0.01", ratio: -1, at: new Date(0) },
  { group: "c" },
];

function testSalesOnEach(name: string, run: (db: Sales, brand: Brand) => Promise<void>): void {
  testOnEach(name, async ({ brand, url }) => {
    await using db = await Sales.open(DbOptions.fromUrl(url));
    await db.createTables();
    await run(db, brand);
  });
}

testSalesOnEach("Repository.aggregate() has the same results on each database", async (db) => {
  await db.sale.createMany({ data: ROWS });
  const kinds = { open: true, at: true, code: true, bytes: true, group: true } as const;
  const numbers = { amount: true, big: true, price: true, ratio: true } as const;
  const result = await db.sale.aggregate({
    _count: { _all: true, amount: true, meta: true },
    _sum: numbers,
    _avg: numbers,
    _min: { ...numbers, ...kinds },
    _max: { ...numbers, ...kinds },
  });
  assert.deepEqual(result, {
    _count: { _all: 4, amount: 3, meta: 2 },
    _sum: { amount: 5, big: 2n * MAX_INT64 - 5n, price: "0.19", ratio: -0.25 },
    _avg: {
      amount: 5 / 3,
      big: Number(2n * MAX_INT64 - 5n) / 3,
      price: "0.063333",
      ratio: -0.25 / 3,
    },
    _min: {
      amount: 1,
      big: -5n,
      price: "-0.01",
      ratio: -1,
      open: false,
      at: new Date(0),
      code: uuid("9"),
      bytes: Uint8Array.of(1),
      group: "a",
    },
    _max: {
      amount: 2,
      big: MAX_INT64,
      price: "0.10",
      ratio: 0.5,
      open: true,
      at: ROWS[0]!.at,
      code: uuid("b"),
      bytes: Uint8Array.of(1, 255),
      group: "c",
    },
  });
  assert.deepEqual(await db.sale.aggregate({ where: { group: "a" }, _count: true }), { _count: 2 });
  const none = await db.sale.scoped({ group: "z" }).aggregate({
    _count: { amount: true },
    _sum: { price: true, big: true, amount: true, ratio: true },
    _avg: { price: true, ratio: true, big: true },
    _min: { code: true, open: true },
  });
  assert.deepEqual(none, {
    _count: { amount: 0 },
    _sum: { price: null, big: null, amount: null, ratio: null },
    _avg: { price: null, ratio: null, big: null },
    _min: { code: null, open: null },
  });
});

testSalesOnEach("Repository.aggregate() sums exactly, whatever comes between", async (db) => {
  const big = [MAX_INT64, MAX_INT64, -MAX_INT64, -MAX_INT64, 7n];
  await db.sale.createMany({ data: big.map((big) => ({ group: "a", big })) });
  assert.deepEqual(await db.sale.aggregate({ _sum: { big: true } }), { _sum: { big: 7n } });
  await db.sale.createMany({
    data: Array.from({ length: 11 }, (_, n) => ({
      group: "p",
      price: n % 2 === 0 ? "9999999999999999.99" : "-0.01",
    })),
  });
  const where = { group: "p" };
  const { _sum, _avg } = await db.sale.aggregate({
    where,
    _sum: { price: true },
    _avg: { price: true },
  });
  assert.deepEqual([_sum, _avg], [{ price: "59999999999999999.89" }, {
    price: "5454545454545454.535455",
  }]);
  const halves = ["0.01", "0.02", "0.02", "0.02", "0.02", "0.02", "0.02", "0.02"];
  for (const sign of ["", "-"]) {
    await db.sale.deleteMany({ all: true });
    // The sum is 0.15, the average 0.01875, and of 3200 rows 0.0000469 with a 5 behind it.
    const data = halves.map((price) => ({ group: "h", price: `${sign}${price}` }));
    await db.sale.createMany({ data });
    await db.sale.createMany({
      data: Array.from({ length: 312 }, () => ({ group: "h", price: "0" })),
    });
    // 0.15 / 320 = 0.00046875
    const { _avg } = await db.sale.aggregate({ _avg: { price: true } });
    assert.equal(_avg.price, `${sign}0.000469`);
  }
});

testSalesOnEach("Repository.aggregate() has the average of large reals", async (db) => {
  const data = [1e160, 2e160, 3].map((ratio) => ({ group: "a", ratio }));
  await db.sale.createMany({ data });
  assert.deepEqual(await db.sale.aggregate({ _avg: { ratio: true } }), { _avg: { ratio: 1e160 } });
});

testSalesOnEach("Repository.aggregate() refuses sums that are too large", async (db, brand) => {
  const tooLarge = (label: string) =>
    dbError("CheckViolation", `Cannot aggregate order: ${label} is too large`, [label]);
  const max = { group: "a", amount: Number.MAX_SAFE_INTEGER, ratio: 1.7e308 };
  await db.sale.createMany({ data: [max, max] });
  await assert.rejects(db.sale.aggregate({ _sum: { amount: true } }), tooLarge("_sum.amount"));
  await assert.rejects(db.sale.aggregate({ _sum: { ratio: true } }), tooLarge("_sum.ratio"));
  await assert.rejects(db.sale.aggregate({ _avg: { ratio: true } }), tooLarge("_avg.ratio"));
  assert.deepEqual(await db.sale.aggregate({ _avg: { amount: true } }), {
    _avg: { amount: Number.MAX_SAFE_INTEGER },
  });
  await db.sale.createMany({ data: [-1.7e308, -1.7e308].map((ratio) => ({ group: "a", ratio })) });
  const opposite = db.sale.aggregate({ _sum: { ratio: true } });
  if (brand === "mysql") await opposite.catch(() => {});
  else await assert.rejects(opposite, tooLarge("_sum.ratio"));
});

testSalesOnEach("Repository.groupBy() groups, and has, orders and pages groups", async (db) => {
  await db.sale.createMany({ data: ROWS });
  assert.deepEqual(
    await db.sale.groupBy({
      by: ["group"],
      orderBy: { group: "desc" },
      _count: true,
      _sum: { price: true },
      _max: { at: true },
    }),
    [
      { group: "c", _count: 1, _sum: { price: null }, _max: { at: null } },
      { group: "b", _count: 1, _sum: { price: "-0.01" }, _max: { at: new Date(0) } },
      { group: "a", _count: 2, _sum: { price: "0.20" }, _max: { at: ROWS[0]!.at } },
    ],
  );
  const groups = async (options: Omit<Parameters<typeof db.sale.groupBy>[0], "by">) => {
    const found = await db.sale.groupBy({ orderBy: { group: "asc" }, ...options, by: ["group"] });
    return found.map(({ group }) => group).join("");
  };
  const nextTo = MAX_INT64;
  assert.equal(await groups({ having: { price: { _sum: { gt: "0" } } } }), "a");
  assert.equal(await groups({ having: { price: { _sum: "0.2" } } }), "a");
  assert.equal(await groups({ having: { price: { _sum: { in: ["-0.01", "0.20"] } } } }), "ab");
  assert.equal(await groups({ having: { price: { _sum: { notIn: ["-0.01", "1"] } } } }), "a");
  assert.equal(await groups({ having: { price: { _sum: null } } }), "c");
  assert.equal(await groups({ having: { price: { _sum: { lt: "9".repeat(60) } } } }), "ab");
  assert.equal(await groups({ having: { price: { _avg: 0.1 } } }), "a");
  assert.equal(await groups({ having: { price: { _avg: { gte: 0.1 } } } }), "a");
  assert.equal(await groups({ having: { big: { _sum: { gt: nextTo } } } }), "a");
  assert.equal(await groups({ having: { big: { _sum: { in: [-5n, 7n, 8n] } } } }), "b");
  assert.equal(await groups({ having: { amount: { _sum: { lte: 3 }, _count: 2 } } }), "a");
  assert.equal(await groups({ having: { amount: { _avg: { in: [1.5, 2] } } } }), "ab");
  assert.equal(await groups({ having: { id: { _count: { gt: 1 } } } }), "a");
  assert.equal(await groups({ having: { meta: { _count: { not: 0 } } } }), "a");
  assert.equal(await groups({ having: { at: { _min: { gt: new Date(5) } } } }), "a");
  assert.equal(await groups({ having: { code: { _max: { in: [uuid("B")] } } } }), "a");
  assert.equal(await groups({ having: { bytes: { _min: Uint8Array.of(1) } } }), "a");
  assert.equal(await groups({ having: { open: { _max: { not: false } } } }), "a");
  assert.equal(await groups({ having: { group: { _min: { contains: "b" } } } }), "b");
  assert.equal(await groups({ having: { ratio: { _sum: { lt: 0 } } } }), "b");
  assert.equal(
    await groups({
      having: {
        OR: [{ price: { _sum: "0.2" } }, { NOT: { amount: { _sum: { isNull: false } } } }],
      },
    }),
    "ac",
  );
  assert.equal(await groups({ having: { AND: [] } }), "abc");
  assert.equal(await groups({ orderBy: { _sum: { big: "asc" } } }), "cba");
  assert.equal(await groups({ orderBy: { _avg: { price: "desc" } } }), "abc");
  assert.equal(await groups({ orderBy: [{ _count: { _all: "asc" } }, { group: "desc" }] }), "cba");
  assert.equal(await groups({ orderBy: { _count: { _all: "asc" } }, take: 2 }), "bc");
  assert.equal(await groups({ orderBy: { _min: { at: "desc" } }, skip: 1, take: 5 }), "bc");
  assert.equal(await groups({ where: { amount: { gte: 1 } } }), "ab");
  assert.deepEqual(await db.sale.scoped({ group: "b" }).groupBy({ by: ["open", "amount"] }), [
    { open: null, amount: 2 },
  ]);
  assert.deepEqual(await db.sale.groupBy({ by: ["at", "bytes"], where: { group: "b" } }), [
    { at: new Date(0), bytes: null },
  ]);
});

testSalesOnEach("Repository.groupBy() and aggregate() name what is wrong", async ({ sale }) => {
  const wrong = (options: object) => () => sale.aggregate(options as { _count: true });
  const wrongly = (options: object) => () =>
    sale.groupBy({ by: ["group"], ...options } as { by: ["group"] });
  const refusals: readonly (readonly [() => Promise<unknown>, string])[] = [
    [wrong({}), "aggregate order: it names no aggregate"],
    [wrong({ _sum: {} }), "aggregate order: _sum names no column"],
    [wrong({ _sum: { nope: true } }), 'aggregate order: there is no column "nope"'],
    [wrong({ _sum: { group: true } }), 'aggregate order: group takes no "_sum"'],
    [wrong({ _max: { meta: true } }), 'aggregate order: meta takes no "_max"'],
    [wrong({ _max: { id: false } }), "aggregate order: _max.id is not true"],
    [wrong({ _max: { id: undefined } }), "aggregate order: _max.id is undefined"],
    [wrong({ _count: { _all: 1 } }), "aggregate order: _count._all is not true"],
    [wrong({ _count: true, where: undefined }), "aggregate order: where is undefined"],
    [wrong({ _total: true }), 'aggregate order: it takes no "_total"'],
    [wrong({ _count: true, by: ["group"] }), 'aggregate order: it takes no "by"'],
    [wrongly({ by: "group" }), "group order: by is not a list"],
    [wrongly({ by: [] }), "group order: by names no column"],
    [wrongly({ by: ["nope"] }), 'group order: there is no column "nope"'],
    [wrongly({ by: ["meta"] }), "group order: meta cannot be in by"],
    [wrongly({ orderBy: { id: "asc" } }), "group order: id is not in by"],
    [wrongly({ orderBy: { group: "up" } }), "group order: the order of group is not asc or desc"],
    [
      wrongly({ orderBy: { _sum: { price: "up" } } }),
      "group order: the order of _sum.price is not asc or desc",
    ],
    [wrongly({ having: undefined }), "group order: having is undefined"],
    [wrongly({ having: { price: 1 } }), "group order: having.price is not a plain object"],
    [wrongly({ having: { nope: { _sum: 1 } } }), 'group order: there is no column "nope"'],
    [wrongly({ having: { price: { gt: 1 } } }), 'group order: price takes no "gt"'],
    [wrongly({ having: { price: { _sum: {} } } }), "group order: _sum.price has no operator"],
    [
      wrongly({ having: { price: { _sum: { contains: "1" } } } }),
      'group order: _sum.price takes no "contains" of string',
    ],
    [
      wrongly({ having: { price: { _sum: 1 } } }),
      "group order: _sum.price takes a string, not number",
    ],
    [wrongly({ having: { OR: {} } }), "group order: OR is not a list"],
    [wrongly({ having: { "_sum~price": { _sum: "1" } } }), "group order: there is no column"],
  ];
  for (const [run, message] of refusals) {
    const expected = mistake(`Cannot ${message}`);
    await assert.rejects(run, (error: Error) => {
      assert.deepEqual([error.name, error.message.startsWith(expected.message)], [
        expected.name,
        true,
      ], `${error.message}, not ${expected.message}`);
      return true;
    });
  }
  await assert.rejects(wrongly({ take: -1 }), {
    name: "RangeError",
    message: "Cannot group order: take is not a whole number of 0 or more",
  });
});
