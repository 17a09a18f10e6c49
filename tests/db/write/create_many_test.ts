import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, dbError, testOnEach } from "../support/database.ts";

const Owner = model("owners", { id: field.integer().primaryKey(), email: field.text().unique() });
const Pet = model("pets", {
  id: field.integer().primaryKey(),
  tag: field.text().unique(),
  chip: field.bigint().unique().nullable(),
  owner_id: field.integer().references(Owner).nullable(),
  tenant: field.text().default("t"),
  weight: field.decimal({ precision: 8, scale: 2 }).default("1"),
});
const Price = model("prices", {
  id: field.decimal({ precision: 8, scale: 2 }).primaryKey(),
  note: field.text().nullable(),
});
const Badge = model("badges", { id: field.uuid().primaryKey(), at: field.timestamp().unique() });
const Key = model("keys", { id: field.bigint().primaryKey() });
const Setting = model("settings", {
  id: field.integer().primaryKey(),
  name: field.text().defaultSql("'main'").unique(),
});
class Pets extends DbService.with({
  owner: Owner,
  pet: Pet,
  price: Price,
  badge: Badge,
  key: Key,
  setting: Setting,
}) {}

/** More than one statement takes. */
const MANY = 12_000;

function testPetsOnEach(name: string, run: (db: Pets, brand: Brand) => Promise<void>): void {
  testOnEach(name, async ({ brand, url }) => {
    await using db = await Pets.open(DbOptions.fromUrl(url));
    await db.createTables();
    await run(db, brand);
  });
}

const pet = (tag: string) => ({ tag, chip: null, owner_id: null, tenant: "t", weight: "1.00" });
const taken = (...fields: string[]) =>
  dbError(
    "UniqueViolation",
    `Cannot create pets: the value of ${fields} is already taken`,
    fields,
  );

testPetsOnEach("Repository.createMany() skips the rows that others conflict with", async (db) => {
  await db.pet.createMany({ data: [{ tag: "a", chip: 1n }, { tag: "b" }] });
  const before = await db.pet.findMany({ orderBy: { id: "asc" } });
  const data = [
    { tag: "a", weight: "9" },
    { tag: "c" },
    { tag: "d", chip: 1n },
    { tag: "c", weight: "9" },
    { id: before[1]!.id, tag: "e" },
    { tag: "f", chip: 2n },
  ];
  await assert.rejects(db.pet.createMany({ data, skipDuplicates: false }), taken("tag"));
  assert.equal(await db.pet.count(), 2);
  assert.equal(await db.pet.createMany({ data, skipDuplicates: true }), 2);
  assert.equal(await db.pet.createMany({ data, skipDuplicates: true }), 0);
  assert.equal(await db.pet.createMany({ data: [], skipDuplicates: true }), 0);
  const rows = await db.pet.findMany({ orderBy: { id: "asc" } });
  assert.deepEqual(rows.slice(0, 2), before);
  assert.deepEqual(rows.slice(2).map(({ tag, weight }) => [tag, weight]), [
    ["c", "1.00"],
    ["f", "1.00"],
  ]);
  assert.equal(await db.key.createMany({ data: [{}, {}], skipDuplicates: true }), 2);
});

testPetsOnEach("Repository.createMany() skips a row of defaults that conflicts", async (db) => {
  assert.equal(await db.setting.createMany({ data: [{}, {}], skipDuplicates: true }), 1);
  assert.equal(await db.setting.createMany({ data: [{}], skipDuplicates: true }), 0);
  const data = [{}, { name: "other" }, {}];
  assert.equal(await db.setting.createMany({ data, skipDuplicates: true }), 1);
  assert.deepEqual(
    await db.setting.findMany({ select: { name: true }, orderBy: { name: "asc" } }),
    [{ name: "main" }, { name: "other" }],
  );
  const error = { code: "UniqueViolation", fields: ["name"] };
  await assert.rejects(db.setting.createMany({ data: [{}] }), error);
  await assert.rejects(db.setting.create({ data: {} }), error);
});

testPetsOnEach("Repository.createMany() skips a row beside one of a negative key", async (db) => {
  await db.pet.create({ data: { id: -1, tag: "a" } });
  const data = ["a", "b", "c"].map((tag) => ({ tag }));
  assert.equal(await db.pet.createMany({ data, skipDuplicates: true }), 2);
  assert.equal(await db.pet.count({ where: { id: { gt: 0, lt: 100 } } }), 2);
  const wrong = [...data, { tag: "d" }, { tag: "e", owner_id: 99 }];
  await db.pet.deleteMany({ where: { id: { gt: 0 } } });
  await assert.rejects(db.pet.createMany({ data: wrong, skipDuplicates: true }), {
    code: "ForeignKeyViolation",
  });
  assert.equal(await db.pet.count(), 1);
});

testPetsOnEach("Repository.createMany() skips no other mistake", async (db) => {
  await db.pet.create({ data: { tag: "a" } });
  const data = [{ tag: "a" }, { tag: "b" }, { tag: "c", owner_id: 99 }];
  await assert.rejects(
    db.pet.createMany({ data, skipDuplicates: true }),
    { code: "ForeignKeyViolation" },
  );
  await assert.rejects(
    db.pet.createMany({ data: [{ tag: "b", weight: "1.234" }], skipDuplicates: true }),
    dbError("CheckViolation", "Cannot create pets: the value of weight is not allowed", ["weight"]),
  );
  await db.transaction(async () => {
    await assert.rejects(
      db.transaction(() => db.pet.createMany({ data, skipDuplicates: true })),
      { code: "ForeignKeyViolation" },
    );
    assert.equal(await db.pet.createMany({ data: data.slice(0, 2), skipDuplicates: true }), 1);
  });
  assert.equal(await db.pet.count(), 2);
  // @ts-expect-error: a boolean
  const wrong = db.pet.createMany({ data, skipDuplicates: "yes" });
  await assert.rejects(wrong, {
    name: "TypeError",
    message: "Cannot create pets: skipDuplicates is not a boolean",
  });
});

testPetsOnEach("Repository.createMany() skips in a scope, and in many statements", async (db) => {
  const data = Array.from({ length: MANY }, (_, n) => ({ tag: `${n % 9000}` }));
  assert.equal(
    await db.pet.scoped({ tenant: "x" }).createMany({ data, skipDuplicates: true }),
    9000,
  );
  assert.equal(await db.pet.scoped({ tenant: "y" }).createMany({ data, skipDuplicates: true }), 0);
  assert.equal(await db.pet.count({ where: { tenant: "x" } }), 9000);
});

testPetsOnEach("Repository.createManyAndReturn() returns the rows in their order", async (db) => {
  const tags = ["b", "d", "a", "c"];
  const rows = await db.pet.createManyAndReturn({ data: tags.map((tag) => ({ tag })) });
  const first = rows[0]!.id;
  assert.deepEqual(rows, tags.map((tag, index) => ({ id: first + index, ...pet(tag) })));
  const mixed = [
    { id: 503, tag: "k" },
    { id: 501, tag: "l" },
    { tag: "m" },
    { tag: "n" },
    { id: 502, tag: "o" },
  ];
  const created = await db.pet.scoped({ tenant: "x" }).createManyAndReturn({ data: mixed });
  assert.deepEqual(
    created.map(({ id, tag, tenant }) => [tag === "m" || tag === "n" ? 0 : id, tag, tenant]),
    [[503, "k", "x"], [501, "l", "x"], [0, "m", "x"], [0, "n", "x"], [502, "o", "x"]],
  );
  assert.ok(created.every(({ id }) => id > rows[3]!.id));
  assert.deepEqual(await db.pet.createManyAndReturn({ data: [] }), []);
});

testPetsOnEach("Repository.createManyAndReturn() knows keys of each kind", async (db) => {
  const prices = ["2.5", "10", "1.25", "-3"];
  const data = prices.map((id) => ({ id }));
  const created = await db.price.createManyAndReturn({ data });
  assert.deepEqual(created.map(({ id }) => id), ["2.50", "10.00", "1.25", "-3.00"]);
  const badges = ["C", "a", "B"].map((c, index) => ({
    id: `${c}0000000-0000-4000-8000-000000000000`,
    at: new Date(index),
  }));
  assert.deepEqual(
    await db.badge.createManyAndReturn({
      data: badges.map(({ id, at }) => ({ id, at: new Date(at.getTime() + 1e13) })),
    }),
    badges.map(({ id, at }) => ({ id: id.toLowerCase(), at: new Date(at.getTime() + 1e13) })),
  );
  const keys = await db.key.createManyAndReturn({ data: [{}, {}, { id: 70n }, {}] });
  assert.equal(keys.length, 4);
  assert.deepEqual(keys.slice(0, 3).map(({ id }) => id - keys[0]!.id < 2n), [true, true, false]);
  assert.ok(keys[3]!.id > 70n);
});

testPetsOnEach("Repository.createManyAndReturn() creates all rows or none", async (db) => {
  const data = Array.from({ length: MANY }, (_, n) => ({ tag: `${(n * 7919) % MANY}` }));
  const rows = await db.pet.createManyAndReturn({ data });
  assert.deepEqual(rows.map(({ tag }) => tag), data.map(({ tag }) => tag));
  assert.equal(new Set(rows.map(({ id }) => id)).size, MANY);
  await db.pet.deleteMany({ where: { tag: { not: "5" } } });
  await assert.rejects(db.pet.createManyAndReturn({ data: data.toReversed() }), taken("tag"));
  assert.equal(await db.pet.count(), 1);
  // @ts-expect-error: no list
  await assert.rejects(db.pet.createManyAndReturn({ data: {} }), {
    name: "TypeError",
    message: "Cannot create pets: data is not a list",
  });
});

testPetsOnEach("Repository.updateManyAndReturn() returns the updated rows", async (db, brand) => {
  const data = Array.from({ length: 3000 }, (_, n) => ({ tag: `${n}`, chip: BigInt(n) }));
  const rows = await db.pet.createManyAndReturn({ data });
  const mine = db.pet.scoped({ tenant: "t" });
  const updated = await mine.updateManyAndReturn({
    where: { chip: { lt: 2500n } },
    data: { weight: { increment: "0.5" }, chip: { decrement: 5000n } },
  });
  const expected = rows.slice(0, 2500).map((row) => ({
    ...row,
    chip: row.chip! - 5000n,
    weight: "1.50",
  }));
  assert.deepEqual(updated.toSorted((a, b) => a.id - b.id), expected);
  const same = await mine.updateManyAndReturn({ where: { id: rows[0]!.id }, data: {} });
  assert.deepEqual(same, expected.slice(0, 1));
  const other = db.pet.scoped({ tenant: "x" });
  assert.deepEqual(await other.updateManyAndReturn({ all: true, data: { weight: "7" } }), []);
  await assert.rejects(
    db.pet.updateManyAndReturn({ where: { chip: { lt: 0n } }, data: { tag: "one" } }),
    { code: "UniqueViolation" },
  );
  assert.equal(await db.pet.count({ where: { tag: "one" } }), 0, brand);
  await assert.rejects(mine.updateManyAndReturn({ where: {}, data: { weight: "7" } }), {
    name: "TypeError",
    message: "Cannot update pets: where names no column; for every row, pass all: true alone",
  });
});

testOnEach(
  "Repository.updateManyAndReturn() returns what others have committed",
  async ({ url }) => {
    await using db = await Pets.open(DbOptions.fromUrl(url));
    await using other = await Pets.open(DbOptions.fromUrl(url));
    await db.createTables();
    const { id } = await db.pet.create({ data: { tag: "a" } });
    await db.transaction(async () => {
      await db.pet.count(); // its snapshot
      await other.pet.update({ where: { id }, data: { weight: "5", chip: 4n } });
      const rows = await db.pet.updateManyAndReturn({ where: { id }, data: { weight: "5" } });
      assert.deepEqual(rows, [{ id, ...pet("a"), weight: "5.00", chip: 4n }]);
    });
  },
  { brands: ["postgres", "mysql"] },
);
