import { sql } from "kysely";
import assert from "node:assert/strict";
import {
  belongsTo,
  DbOptions,
  DbService,
  field,
  hasMany,
  model,
  type Repository,
} from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, mistake, tableNames, testOnEach } from "../support/database.ts";

const User = model("users", { id: field.integer().primaryKey(), name: field.text() });
const Order = model("orders", {
  id: field.integer().primaryKey(),
  user_id: field.integer().references(User),
  year: field.integer(),
  cents: field.integer(),
});
/** A view, which has a row for each user and year. */
const Total = model("totals", {
  user: field.integer().references(User).map("user_id"),
  year: field.integer(),
  orders: field.integer(),
}, { primaryKey: false });
class Db extends DbService.with({ user: User, order: Order, total: Total }, {
  user: { orders: hasMany(Order.user_id), totals: hasMany(Total.user) },
  total: { owner: belongsTo(Total.user) },
}) {}

/** Opens a database with the view: 2 users, who have ordered twice in 2025 and once in 2026. */
async function open(url: string): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  await sql`create view totals as select user_id, year, count(*) as orders, max(cents) as most
    from orders group by user_id, year`.execute(db.kysely);
  await db.user.createMany({ data: [{ name: "a" }, { name: "b" }] });
  const data = [1, 2].flatMap((user_id) =>
    [2025, 2025, 2026].map((year) => ({ user_id, year, cents: 100 }))
  );
  await db.order.createMany({ data });
  return db;
}

const totalOf = (user: number, year: number) => ({ user, year, orders: year === 2025 ? 2 : 1 });
const TOTALS = [totalOf(1, 2025), totalOf(1, 2026), totalOf(2, 2025), totalOf(2, 2026)];

testOnEach("a model without a key reads a view", async ({ url }) => {
  await using db = await open(url);
  await db.createTables();
  await db.checkTables();
  const orderBy = [{ user: "asc" }, { year: "asc" }] as const;
  assert.deepEqual(await db.total.findMany({ orderBy }), TOTALS);
  assert.deepEqual(await db.total.findMany({ orderBy, take: 2, skip: 1 }), TOTALS.slice(1, 3));
  assert.deepEqual(await db.total.findFirst({ where: { user: 2, year: 2026 } }), TOTALS[3]);
  assert.deepEqual(
    await db.total.findMany({
      distinct: ["orders"],
      select: { orders: true },
      orderBy: { orders: "asc" },
    }),
    [{ orders: 1 }, { orders: 2 }],
  );
  const scoped = db.total.scoped({ user: 1 });
  assert.equal(await scoped.count(), 2);
  assert.equal(await scoped.exists({ where: { user: 2 } }), false);
  assert.equal((await scoped.withDeleted().findMany()).length, 2);
  const { _sum } = await db.total.aggregate({ _sum: { orders: true }, where: { year: 2025 } });
  assert.deepEqual(_sum, { orders: 4 });
  assert.deepEqual(
    await db.total.groupBy({ by: ["year"], _count: true, orderBy: { year: "asc" } }),
    [{ year: 2025, _count: 2 }, { year: 2026, _count: 2 }],
  );
});

testOnEach("relations reach models without a key", async ({ url }) => {
  await using db = await open(url);
  const years = (options: object) =>
    db.user.findMany({ orderBy: { id: "asc" }, include: { totals: options } })
      .then((users) => users.map(({ totals }) => totals.map(({ year }) => year)));
  const orderBy = { year: "desc" };
  assert.deepEqual(await years({ orderBy }), [[2026, 2025], [2026, 2025]]);
  assert.deepEqual(await years({ orderBy, take: 1 }), [[2026], [2026]]);
  assert.deepEqual(await years({ orderBy, take: 5, skip: 1 }), [[2025], [2025]]);
  assert.deepEqual(
    await db.user.findFirst({ select: { id: true }, include: { _count: { totals: true } } }),
    { id: 1, _count: { totals: 2 } },
  );
  assert.deepEqual(
    await db.total.findMany({
      where: { owner: { name: "b" }, year: 2025 },
      include: { owner: true },
      orderBy: { owner: { name: "asc" } },
    }),
    [{ ...totalOf(2, 2025), owner: { id: 2, name: "b" } }],
  );
  assert.equal(await db.user.count({ where: { totals: { some: { orders: 2 } } } }), 2);
  // A write may depend on it.
  const where = { totals: { none: { year: 2025 } } };
  assert.equal(await db.user.updateMany({ where, data: { name: "c" } }), 0);
});

testOnEach("a model without a key is not written", async ({ url }) => {
  await using db = await open(url);
  // As code without types calls it.
  const total = db.total as unknown as Repository<typeof Total>;
  const data = TOTALS[0]!;
  const where = { user: 1 } as never;
  const writes: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["create", () => total.create({ data })],
    ["create", () => total.createMany({ data: [data], skipDuplicates: true })],
    ["create", () => total.createManyAndReturn({ data: [data] })],
    ["update", () => total.update({ where, data: {} })],
    ["update", () => total.updateMany({ all: true, data: { orders: 1 } })],
    ["update", () => total.updateManyAndReturn({ all: true, data: { orders: 1 } })],
    ["upsert", () => total.upsert({ where, create: data as never, update: {} })],
    ["upsert", () => total.upsertMany({ by: "user" as never, create: [data], update: ["orders"] })],
    ["delete", () => total.delete({ where })],
    ["delete", () => total.deleteMany({ all: true })],
    ["purge", () => total.purge({ where })],
    ["purge", () => total.purgeMany({ all: true })],
  ];
  for (const [verb, write] of writes) {
    await assert.rejects(
      write(),
      mistake(`Cannot ${verb} totals: the model has no key, and is read-only`),
    );
  }
  await assert.rejects(
    total.findUnique({ where }),
    mistake("Cannot read totals: the model has no key"),
  );
  await assert.rejects(
    Array.fromAsync(total.stream()),
    mistake("Cannot read totals: a stream needs a key, and the model has none"),
  );
  await assert.rejects(
    db.user.update({ where: { id: 1 }, data: { totals: { create: [{}] } } as never }),
    mistake("Cannot update users: totals is read-only: totals has no key"),
  );
});

testOnEach("createTables() leaves out, and checkTables() compares, what has no key", async (
  { brand, url },
) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  assert.ok(!(await tableNames(url)).includes("totals"), brand);
  await assert.rejects(
    db.checkTables(),
    dbError(
      "Database",
      "Cannot use tables: they differ from the models in 1 place\n  totals: the table is missing",
    ),
  );
  // A table that is only read needs neither keys nor columns that rows need.
  await sql`create table totals (user_id bigint, year bigint not null, orders text, other bigint
    not null)`.execute(db.kysely);
  await assert.rejects(
    db.checkTables(),
    dbError(
      "Database",
      "Cannot use tables: they differ from the models in 1 place\n" +
        "  totals.orders: the column is text, the model has integer",
    ),
  );
});

test("model() rejects keys of a model without one", () => {
  const fields = { id: field.integer(), a: field.text(), b: field.text() };
  const keyless = { primaryKey: false } as const;
  const refused = (it: string) => ({
    name: "TypeError",
    message: `Cannot define t: primaryKey is false, but ${it} is a key`,
  });
  const { id, a } = fields;
  assert.throws(() => model("t", { ...fields, id: id.primaryKey() }, keyless), refused("id"));
  assert.throws(() => model("t", { ...fields, a: a.unique() }, keyless), refused("a"));
  assert.throws(() => model("t", fields, { ...keyless, unique: [["a", "b"]] }), refused("a_b"));
  assert.throws(() => field.integer().references(Total), {
    name: "TypeError",
    message: "Cannot refer to totals: it has no key",
  });
  assert.throws(
    () => DbService.with({ total: Total }, {}, { on: { total: { created() {} } } as object }),
    { name: "TypeError", message: "Cannot add hooks: total has no key, and is read-only" },
  );
});
