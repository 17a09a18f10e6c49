import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, dbError, testOnEach } from "../support/database.ts";

const Pet = model("pets", {
  id: field.integer().primaryKey(),
  tag: field.text().unique(),
  chip: field.bigint().unique().nullable(),
  tenant: field.text().default("t"),
  weight: field.decimal({ precision: 8, scale: 2 }).default("1"),
});
const Price = model("prices", {
  id: field.decimal({ precision: 8, scale: 2 }).primaryKey(),
  note: field.text().nullable(),
});
class Pets extends DbService.with({ pet: Pet, price: Price }) {}

/** More than one statement takes. */
const MANY = 12_000;

function testPetsOnEach(name: string, run: (db: Pets, brand: Brand) => Promise<void>): void {
  testOnEach(name, async ({ brand, url }) => {
    await using db = await Pets.open(DbOptions.fromUrl(url));
    await db.createTables();
    await run(db, brand);
  });
}

const taken = (field: string) =>
  dbError("UniqueViolation", `Cannot upsert pets: the value of ${field} is already taken`, [field]);

async function rowsOf(db: Pets): Promise<unknown> {
  const rows = await db.pet.findMany({ orderBy: { tag: "asc" } });
  return rows.map(({ tag, chip, tenant, weight }) => [tag, chip, tenant, weight]);
}

testPetsOnEach("Repository.upsertMany() creates rows, or updates their columns", async (db) => {
  const before = await db.pet.createManyAndReturn({
    data: [{ tag: "a", chip: 1n, weight: "2" }, { tag: "b", weight: "2" }],
  });
  const written = await db.pet.upsertMany({
    by: "tag",
    create: [
      { tag: "b", weight: "3", tenant: "x" },
      { tag: "c", weight: "4", chip: 3n },
      { tag: "a", tenant: "x" },
      { tag: "A" },
    ],
    update: ["weight", "chip", "weight"],
  });
  assert.equal(written, 4);
  assert.deepEqual(await rowsOf(db), [
    ["A", null, "t", "1.00"],
    ["a", null, "t", "1.00"],
    ["b", null, "t", "3.00"],
    ["c", 3n, "t", "4.00"],
  ]);
  const rows = await db.pet.findMany({
    where: { tag: { in: ["a", "b"] } },
    orderBy: { id: "asc" },
  });
  assert.deepEqual(rows.map(({ id }) => id), before.map(({ id }) => id));
  await db.price.upsertMany({ by: "id", create: [{ id: "1.5" }, { id: "2" }], update: ["note"] });
  await db.price.upsertMany({
    by: "id",
    create: [{ id: "1.50", note: "n" }, { id: "3" }],
    update: ["note"],
  });
  assert.deepEqual(await db.price.findMany({ orderBy: { id: "asc" } }), [
    { id: "1.50", note: "n" },
    { id: "2.00", note: null },
    { id: "3.00", note: null },
  ]);
  assert.equal(await db.pet.upsertMany({ by: "tag", create: [], update: ["weight"] }), 0);
});

testPetsOnEach("Repository.upsertMany() writes all rows or none", async (db) => {
  const data = Array.from({ length: MANY }, (_, n) => ({ tag: `${n}`, weight: `${n % 9}` }));
  await db.pet.createMany({ data: data.slice(0, MANY / 2) });
  const heavier = data.map((row) => ({ ...row, weight: "100" }));
  assert.equal(await db.pet.upsertMany({ by: "tag", create: heavier, update: ["weight"] }), MANY);
  assert.equal(await db.pet.count({ where: { weight: "100" } }), MANY);
  await db.pet.update({ where: { tag: "0" }, data: { chip: 5n } });
  // A value of an existing row that is not to be set conflicts with no other.
  const light = heavier.map((row, n) => ({
    ...row,
    weight: "1",
    chip: n === MANY - 1 ? 5n : null,
  }));
  assert.equal(await db.pet.upsertMany({ by: "tag", create: light, update: ["weight"] }), MANY);
  assert.equal(await db.pet.count({ where: { weight: "1" } }), MANY);
  const other = [...data.slice(0, 3), { tag: "new", chip: 5n }];
  await assert.rejects(
    db.pet.upsertMany({ by: "tag", create: other, update: ["weight"] }),
    taken("chip"),
  );
  assert.equal(await db.pet.count({ where: { weight: "1" } }), MANY);
});

testPetsOnEach("Repository.upsertMany() never changes a row by another column", async (db) => {
  const [a, b] = await db.pet.createManyAndReturn({
    data: [{ tag: "a", chip: 1n }, { tag: "b", chip: 2n }],
  });
  const before = await rowsOf(db);
  const upsert = (create: { tag: string; id?: number; chip?: bigint }) =>
    db.pet.upsertMany({ by: "tag", create: [create], update: ["weight"] });
  await assert.rejects(upsert({ tag: "c", chip: 1n }), taken("chip"));
  await assert.rejects(upsert({ tag: "c", id: a!.id }), taken("id"));
  await assert.rejects(
    db.pet.upsertMany({ by: "tag", create: [{ tag: "a", chip: 2n }], update: ["chip"] }),
    taken("chip"),
  );
  await assert.rejects(
    db.pet.upsertMany({ by: "id", create: [{ id: b!.id, tag: "a" }], update: ["tag"] }),
    taken("tag"),
  );
  await assert.rejects(
    db.pet.upsertMany({ by: "chip", create: [{ tag: "a", chip: 9n }], update: ["weight"] }),
    taken("tag"),
  );
  assert.deepEqual(await rowsOf(db), before);
  // Rows are written in their order: the next one would make room.
  const swapped = [{ tag: "b" }, { id: b!.id, tag: "z" }];
  await assert.rejects(
    db.pet.upsertMany({
      by: "id",
      create: [{ ...swapped[0]!, id: b!.id + 50 }, swapped[1]!],
      update: ["tag"],
    }),
    taken("tag"),
  );
  assert.deepEqual(await rowsOf(db), before);
  // The row that is found by its chip is updated, whatever else another row has.
  const create = [{ tag: "a", chip: 2n, weight: "9" }, { tag: "d", chip: 4n }];
  assert.equal(await db.pet.upsertMany({ by: "chip", create, update: ["weight"] }), 2);
  assert.deepEqual(await rowsOf(db), [
    ["a", 1n, "t", "1.00"],
    ["b", 2n, "t", "9.00"],
    ["d", 4n, "t", "1.00"],
  ]);
});

testPetsOnEach("Repository.upsertMany() never changes a row out of scope", async (db) => {
  await db.pet.scoped({ tenant: "x" }).createMany({ data: [{ tag: "a" }, { tag: "b" }] });
  const before = await rowsOf(db);
  const other = db.pet.scoped({ tenant: "y" });
  const create = [{ tag: "c", weight: "5" }, { tag: "b", weight: "5" }];
  await assert.rejects(other.upsertMany({ by: "tag", create, update: ["weight"] }), taken("tag"));
  await db.transaction(async () => {
    await assert.rejects(other.upsertMany({ by: "tag", create, update: ["weight"] }), taken("tag"));
    assert.deepEqual(await rowsOf(db), before);
  });
  assert.deepEqual(await rowsOf(db), before);
  const mine = db.pet.scoped({ tenant: "x" });
  assert.equal(await mine.upsertMany({ by: "tag", create, update: ["weight"] }), 2);
  assert.deepEqual(await rowsOf(db), [
    ["a", null, "x", "1.00"],
    ["b", null, "x", "5.00"],
    ["c", null, "x", "5.00"],
  ]);
});

testPetsOnEach("Repository.upsertMany() beside a row of a negative key", async (db) => {
  await db.pet.create({ data: { id: -1, tag: "a" } });
  const create = ["a", "b", "c"].map((tag) => ({ tag, weight: "6" }));
  // MySQL would generate keys beyond all numbers.
  assert.equal(await db.pet.upsertMany({ by: "tag", create, update: ["weight"] }), 3);
  assert.deepEqual(await rowsOf(db), [
    ["a", null, "t", "6.00"],
    ["b", null, "t", "6.00"],
    ["c", null, "t", "6.00"],
  ]);
  const mine = db.pet.scoped({ tenant: "x" });
  const other = [{ tag: "d" }, { tag: "a" }, { tag: "e" }];
  await assert.rejects(
    mine.upsertMany({ by: "tag", create: other, update: ["weight"] }),
    taken("tag"),
  );
  assert.equal(await db.pet.count(), 3);
});

testPetsOnEach("Repository.upsertMany() names what is wrong", async (db) => {
  const wrong = (options: object) => () =>
    db.pet.upsertMany({ by: "tag", create: [{ tag: "a" }], update: ["weight"], ...options });
  const mistakes: readonly (readonly [() => Promise<number>, string])[] = [
    [wrong({ by: "nope" }), 'there is no column "nope"'],
    [wrong({ by: undefined }), "there is no column undefined"],
    [wrong({ by: "weight" }), "weight is not unique"],
    [wrong({ update: undefined }), "update is not a list"],
    [wrong({ update: [] }), "update names no column"],
    [wrong({ update: ["nope"] }), 'there is no column "nope"'],
    [wrong({ update: ["id"] }), "id is the primary key"],
    [wrong({ create: {} }), "create is not a list"],
    [wrong({ create: [{ nope: 1 }] }), 'there is no column "nope"'],
    [wrong({ data: [] }), 'it takes no "data"'],
  ];
  for (const [run, reason] of mistakes) {
    await assert.rejects(run, { name: "TypeError", message: `Cannot upsert pets: ${reason}` });
  }
  const scoped = db.pet.scoped({ tenant: "x" });
  const update = ["tenant"] as never;
  await assert.rejects(scoped.upsertMany({ by: "tag", create: [{ tag: "a" }], update }), {
    name: "TypeError",
    message: "Cannot upsert pets: the scope sets tenant",
  });
  await assert.rejects(
    wrong({ by: "chip" })(),
    dbError("NotNullViolation", "Cannot upsert pets: the value of chip is missing", ["chip"]),
  );
  await assert.rejects(
    wrong({ create: [{ tag: "a" }, { tag: "b" }, { tag: "a" }] })(),
    dbError("UniqueViolation", "Cannot upsert pets: create has a value of tag twice", ["tag"]),
  );
  await assert.rejects(
    wrong({ create: [{ tag: 5 }] })(),
    dbError("CheckViolation", "Cannot upsert pets: tag takes a string, not number", ["tag"]),
  );
  assert.equal(await db.pet.count(), 0);
});
