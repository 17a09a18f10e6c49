import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService, field, model, type Where } from "../../../src/db/mod.ts";
import {
  type Db,
  dbError,
  mistake,
  openDb,
  testDbOnEach,
  testOnEach,
  type User,
} from "../support/database.ts";

const ADA = { tenant_id: "a", email: "ada@example.org", name: "Ada" };

async function fillUsers(db: Db): Promise<void> {
  const data = ["a", "b", "c", "d"].map((email, n) => ({
    tenant_id: n < 3 ? "mine" : "other",
    email,
    name: n % 2 === 0 ? "even" : "odd",
  }));
  assert.equal(await db.user.createMany({ data }), 4);
}

testDbOnEach("Repository.createMany() creates any number of rows, all or none", async (db) => {
  await fillUsers(db);
  assert.equal(await db.user.createMany({ data: [] }), 0);
  const many = Array.from({ length: 5000 }, (_, n) => ({ ...ADA, email: `${n}` }));
  assert.equal(await db.user.createMany({ data: many }), 5000);
  const taken = [...many.map(({ email }) => ({ ...ADA, email: `x${email}` })), {
    ...ADA,
    email: "a",
  }];
  await assert.rejects(
    db.user.createMany({ data: taken }),
    dbError("UniqueViolation", "Cannot create users: the value of email is already taken", [
      "email",
    ]),
  );
  assert.equal(await db.user.count(), 5004);
  await assert.rejects(
    db.user.createMany({
      data: [{ ...ADA, email: "y" }, { ...ADA, email: "z", nope: 1 } as never],
    }),
    { name: "TypeError", message: 'Cannot create users: there is no column "nope"' },
  );
  await assert.rejects(db.user.createMany({ data: ADA as never }), {
    name: "TypeError",
    message: "Cannot create users: data is not a list",
  });
  assert.equal(
    await db.user.scoped({ tenant_id: "s" }).createMany({ data: [{ email: "s", name: "S" }] }),
    1,
  );
  assert.equal(await db.user.count({ where: { tenant_id: "s" } }), 1);
});

testDbOnEach("Repository.updateMany() and deleteMany() return the number of rows", async (db) => {
  await fillUsers(db);
  assert.equal(await db.user.updateMany({ where: { name: "even" }, data: { active: false } }), 2);
  // Rows that have the value already count too.
  assert.equal(await db.user.updateMany({ where: { name: "even" }, data: { active: false } }), 2);
  assert.equal(await db.user.updateMany({ where: { name: "even" }, data: {} }), 2);
  assert.equal(await db.user.updateMany({ where: { name: "none" }, data: { active: true } }), 0);
  assert.equal(await db.user.updateMany({ all: true, data: { name: "all" } }), 4);
  const mine = db.user.scoped({ tenant_id: "mine" });
  assert.equal(
    await mine.deleteMany({ where: { OR: [{ tenant_id: "other" }, { email: "a" }] } }),
    1,
  );
  assert.equal(await mine.deleteMany({ all: true }), 2);
  assert.equal(await db.user.deleteMany({ where: { id: { in: [] } } }), 0);
  assert.equal(await db.user.deleteMany({ all: true }), 1);
  assert.equal(await db.user.count(), 0);
});

testDbOnEach(
  "Repository.updateMany() and deleteMany() refuse a condition that holds for every row",
  async (db) => {
    await fillUsers(db);
    const none = { id: { in: [] } };
    const every = { id: { notIn: [] } };
    const always: readonly Where<typeof User>[] = [
      every,
      { NOT: none },
      { NOT: { NOT: every } },
      { NOT: { name: "odd", ...none } },
      { NOT: { OR: [none, { NOT: every }] } },
      { OR: [{ name: "odd" }, every] },
      { AND: [every, { name: { notIn: [] } }] },
      { id: { notIn: [] }, NOT: none },
      { name: { contains: "" } },
      { name: { startsWith: "", endsWith: "" } },
      { NOT: { id: null as never } },
      { id: { isNull: false } },
    ];
    const reason = "where holds for every row; for that, pass all: true alone";
    for (const where of always) {
      const text = JSON.stringify(where);
      assert.equal(await db.user.count({ where }), 4, text);
      await assert.rejects(
        db.user.deleteMany({ where }),
        mistake(`Cannot delete users: ${reason}`),
        text,
      );
      await assert.rejects(
        db.user.updateMany({ where, data: { name: "x" } }),
        mistake(`Cannot update users: ${reason}`),
        text,
      );
      await assert.rejects(db.user.updateMany({ where, data: {} }), TypeError, text);
    }
    const some: readonly (readonly [Where<typeof User>, number])[] = [
      [none, 0],
      [{ NOT: every }, 0],
      [{ OR: [none, { NOT: every }] }, 0],
      [{ ...none, name: { notIn: [] } }, 0],
      [{ id: { in: [], notIn: [] } }, 0],
      [{ AND: [every, { id: 1 }] }, 1],
      [{ NOT: { id: 1, name: { notIn: [] } } }, 3],
      [{ id: { notIn: [], not: 1 } }, 3],
      [{ OR: [none, { id: 1 }] }, 1],
    ];
    for (const [where, count] of some) {
      assert.equal(await db.user.updateMany({ where, data: { active: false } }), count);
    }
    assert.equal(await db.user.count(), 4);
  },
);

testDbOnEach(
  "Repository.updateMany() and deleteMany() refuse a condition of nothing",
  async (db) => {
    await fillUsers(db);
    const wrong: readonly unknown[] = [
      {},
      { where: undefined },
      { where: {} },
      { where: { AND: [] } },
      { where: { OR: [{}] } },
      { where: { OR: [{}, { id: 1 }] } },
      { where: { OR: [{ AND: [] }, { id: -1 }] } },
      { where: { NOT: { OR: [] } } },
      { where: { name: "odd" }, all: true },
      { where: {}, all: true },
      { all: false },
      { all: 1 },
    ];
    const reason = "where names no column; for every row, pass all: true alone";
    for (const rows of wrong as readonly { all: true }[]) {
      for (const users of [db.user, db.user.scoped({ tenant_id: "mine" })]) {
        await assert.rejects(users.deleteMany(rows), {
          name: "TypeError",
          message: `Cannot delete users: ${reason}`,
        });
        await assert.rejects(users.updateMany({ ...rows, data: { name: "x" } }), {
          name: "TypeError",
          message: `Cannot update users: ${reason}`,
        });
      }
    }
    assert.equal(await db.user.count({ where: { name: { in: ["even", "odd"] } } }), 4);
  },
);

testDbOnEach("Repository.upsert() creates a row, and updates it from then on", async (db) => {
  const upsert = (name: string) =>
    db.user.upsert({ where: { email: ADA.email }, create: { ...ADA, name }, update: { name } });
  assert.deepEqual(await upsert("Ada"), { id: 1, ...ADA, active: true });
  assert.deepEqual(await upsert("Bea"), { id: 1, ...ADA, name: "Bea", active: true });
  const nothing = { where: { email: ADA.email }, create: ADA, update: {} };
  assert.deepEqual(await db.user.upsert(nothing), { id: 1, ...ADA, name: "Bea", active: true });
  const byId = await db.user.upsert({
    where: { id: 40 },
    create: { ...ADA, email: "forty" },
    update: { name: "no" },
  });
  assert.deepEqual(byId, { id: 40, ...ADA, email: "forty", active: true });
  assert.equal(await db.user.count(), 2);
  assert.ok((await db.user.create({ data: { ...ADA, email: "next" } })).id > 40);
});

testDbOnEach("Repository.upsert() updates the row of its condition and no other", async (db) => {
  await fillUsers(db);
  const taken = dbError(
    "UniqueViolation",
    "Cannot upsert users: the value of email is already taken",
    ["email"],
  );
  // Another row has the e-mail: neither row changes.
  await assert.rejects(
    db.user.upsert({ where: { id: 99 }, create: { ...ADA, email: "b" }, update: { name: "x" } }),
    taken,
  );
  await assert.rejects(
    db.user.upsert({ where: { id: 1 }, create: ADA, update: { email: "b" } }),
    taken,
  );
  const mine = db.user.scoped({ tenant_id: "mine" });
  await assert.rejects(
    mine.upsert({
      where: { email: "d" },
      create: { email: "d", name: "x" },
      update: { name: "x" },
    }),
    taken,
  );
  assert.equal(await db.user.count({ where: { name: "x" } }), 0);
  const own = await mine.upsert({
    where: { email: "e" },
    create: { email: "e", name: "x" },
    update: {},
  });
  assert.equal(own.tenant_id, "mine");
});

testDbOnEach(
  "Repository.upsert() refuses a condition that does not name the new row",
  async (db) => {
    const table: readonly (readonly [unknown, unknown, string])[] = [
      [{ id: 1, email: "a" }, ADA, "where has more than one column"],
      [{ email: "b" }, ADA, "create has another email than where"],
      [{ name: "b" }, ADA, "name is not unique"],
      [{}, ADA, "where names no unique column"],
      [{ email: "a" }, null, "data is not a plain object"],
    ];
    for (const [where, create, reason] of table) {
      await assert.rejects(
        db.user.upsert({ where, create, update: {} } as Parameters<typeof db.user.upsert>[0]),
        { name: "TypeError", message: `Cannot upsert users: ${reason}` },
      );
    }
  },
);

const Event = model("events", {
  id: field.uuid().primaryKey().default(() => crypto.randomUUID()),
  at: field.timestamp().default(() => new Date()),
  amount: field.decimal({ precision: 12, scale: 2 }).default("0.5"),
  data: field.json().default({ tags: [] }),
});
class Events extends DbService.with({ event: Event }) {}

testOnEach(
  "Field.default() makes the values of each row that is created without",
  async ({ url }) => {
    await using db = await Events.open(DbOptions.fromUrl(url));
    await db.createTables();
    const before = Date.now();
    const one = await db.event.create({ data: {} });
    const two = await db.event.create({ data: { amount: "1" } });
    assert.notEqual(one.id, two.id);
    assert.ok(one.at.getTime() >= before && one.at.getTime() <= Date.now());
    assert.deepEqual([one.amount, two.amount, one.data], ["0.50", "1.00", { tags: [] }]);
    assert.deepEqual(await db.event.findUnique({ where: { id: one.id.toUpperCase() } }), one);
  },
);

testOnEach("createMany() keeps values of every kind in columns of other types", async (
  { brand, url },
) => {
  const Thing = model("things", {
    id: field.integer().primaryKey(),
    mood: field.text(),
    size: field.decimal({ precision: 18, scale: 4 }),
    count: field.bigint(),
    ratio: field.real(),
    data: field.json().nullable(),
    bytes: field.blob(),
    at: field.timestamp(),
    uid: field.uuid(),
    on: field.boolean(),
  });
  class Things extends DbService.with({ thing: Thing }) {}
  await using db = await Things.open(DbOptions.fromUrl(url));
  if (brand === "postgres") {
    const columns = `id int4 generated by default as identity primary key, mood mood not null,
      size numeric not null, count numeric(30) not null, ratio float8 not null, data json,
      bytes bytea not null, at timestamp not null, uid uuid not null, "on" bool not null`;
    await sql`create type mood as enum ('glad', 'so "so", \\ ,')`.execute(db.kysely);
    await sql`create table things (${sql.raw(columns)})`.execute(db.kysely);
  } else await db.createTables();
  const one = {
    mood: 'so "so", \\ ,',
    size: "-0.0001",
    count: 2n ** 62n,
    ratio: 0.1 + 0.2,
    data: { "a\\": ['"', null, 1e300, "\u2028 é😀\n"] },
    bytes: new Uint8Array([0, 34, 92, 255]),
    at: new Date("2024-02-29T23:59:59.999Z"),
    uid: "0188c0de-0000-7000-8000-00000000000a",
    on: true,
  };
  const other = { ...one, mood: "glad", ratio: -1e-300, data: null, on: false };
  const text = { ...one, data: "null" };
  await db.thing.createMany({ data: [one, other, text] });
  const rows = await db.thing.findMany({ orderBy: { id: "asc" } });
  assert.deepEqual(rows, [{ id: 1, ...one }, { id: 2, ...other }, { id: 3, ...text }]);
});

testOnEach("a key that no sequence can pass fails before anything is written", async ({ url }) => {
  await using db = await openDb(url);
  await sql`alter table users alter column id set maxvalue 100`.execute(db.kysely);
  const data = { id: 200, tenant_id: "t", email: "a", name: "Ada" };
  const failed = { name: "DbError" };
  await assert.rejects(db.user.create({ data }), failed);
  await assert.rejects(db.user.createMany({ data: [data] }), failed);
  const many = [data, { ...data, id: 201, email: "b" }];
  await assert.rejects(db.user.createMany({ data: many }), failed);
  const upsert = { where: { email: "a" }, create: data, update: { name: "Eve" } };
  await assert.rejects(db.user.upsert(upsert), failed);
  assert.equal(await db.user.count(), 0);
}, { brands: ["postgres"] });

testOnEach("createMany() writes to tables whose names are those of types", async ({ url }) => {
  const row = { id: field.integer().primaryKey(), word: field.text() };
  class Types extends DbService.with({
    date: model("date", row),
    text: model("text", row),
    point: model("point", row),
    json: model("json", row),
  }) {}
  await using db = await Types.open(DbOptions.fromUrl(url));
  await db.createTables();
  for (const repository of [db.date, db.text, db.point, db.json]) {
    await repository.createMany({ data: [{ word: "a" }, { word: "b" }] });
    const words = (await repository.findMany()).map(({ word }) => word);
    assert.deepEqual(words, ["a", "b"]);
  }
});
