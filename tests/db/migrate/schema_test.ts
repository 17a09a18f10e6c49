import assert from "node:assert/strict";
import { sql } from "kysely";
import { type AnyModel, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, openDb, testOnEach } from "../support/database.ts";

const id = field.integer().primaryKey();
const DEFAULTS = {
  quotes: field.text().default('it\'s "q"; \\ \\n \n\t%_ ? $1 :x é😀'),
  key: field.text().unique().default("a\\'b"),
  least: field.integer().default(Number.MIN_SAFE_INTEGER),
  small: field.bigint().default(-(2n ** 63n)),
  large: field.bigint().default(2n ** 63n - 1n),
  no: field.boolean().default(false),
  yes: field.boolean().default(true),
  real: field.real().default(-1.5e-7),
  huge: field.real().default(1.7976931348623157e308),
  decimal: field.decimal({ precision: 18, scale: 4 }).default("-12.5000"),
  object: field.json().default({ a: ['it\'s \\ "x"\n'], b: null }),
  string: field.json().default("it's \\"),
  timestamp: field.timestamp().default(new Date("2024-02-29T12:34:56.789Z")),
  first: field.timestamp().default(new Date("1000-01-01T00:00:00.000Z")),
  uuid: field.uuid().default("0188c0de-0000-7000-8000-00000000000a"),
  blob: field.blob().default(new Uint8Array([0, 39, 92, 255])),
  empty: field.blob().default(new Uint8Array()),
  nullable: field.text().nullable().default("x"),
};

testOnEach("DbService.createTables() sets the defaults for raw inserts", async ({ url }) => {
  const Thing = model("things", { id, ...DEFAULTS, none: field.text().nullable() });
  await using db = await DbService.with({ thing: Thing }).open(DbOptions.fromUrl(url));
  await db.createTables();
  await sql`insert into things (id) values (1)`.execute(db.kysely);
  const defaults = Object.entries(DEFAULTS).map(([name, it]) => [name, it.traits.defaultValue]);
  const expected = { id: 1, ...Object.fromEntries(defaults), none: null };
  assert.deepEqual(await db.thing.findUnique({ where: { id: 1 } }), expected);
  await db.thing.delete({ where: { id: 1 } });
  assert.deepEqual(await db.thing.create({ data: { id: 1 } }), expected);
});

testOnEach("DbService.createTables() makes keys of many kinds, and references", async ({ url }) => {
  const Bigints = model("bigints", { id: field.bigint().primaryKey() });
  const Texts = model("texts", { id: field.text().primaryKey() });
  const Uuids = model("uuids", { id: field.uuid().primaryKey() });
  const Timestamps = model("timestamps", { id: field.timestamp().primaryKey() });
  const Decimals = model("decimals", {
    id: field.decimal({ precision: 9, scale: 2 }).primaryKey(),
  });
  const All = model("everything", {
    id: field.integer().primaryKey(),
    bigint: field.bigint().nullable().references(Bigints, { onDelete: "cascade" }),
    text: field.text().nullable().references(Texts, { onDelete: "cascade" }),
    uuid: field.uuid().nullable().references(Uuids, { onDelete: "cascade" }),
    timestamp: field.timestamp().nullable().references(Timestamps, { onDelete: "cascade" }),
    decimal: field.decimal({ precision: 9, scale: 2 }).nullable().references(Decimals, {
      onDelete: "cascade",
    }),
  });
  // Declared before the model it refers to.
  class Db extends DbService.with({
    all: All,
    bigints: Bigints,
    texts: Texts,
    uuids: Uuids,
    timestamps: Timestamps,
    decimals: Decimals,
  }) {}
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  const uuid = "0188c0de-0000-7000-8000-00000000000a";
  const [bigint, text, timestamp, decimal] = [2n ** 60n, "it's ", new Date(1e12 + 1), "1.50"];
  const nothing = { bigint: null, text: null, uuid: null, timestamp: null, decimal: null };
  const table = [
    [{ bigint }, () => db.bigints.delete({ where: { id: bigint } })],
    [{ text }, () => db.texts.delete({ where: { id: text } })],
    [{ uuid }, () => db.uuids.delete({ where: { id: uuid } })],
    [{ timestamp }, () => db.timestamps.delete({ where: { id: timestamp } })],
    [{ decimal }, () => db.decimals.delete({ where: { id: decimal } })],
  ] as const;
  for (const [data] of table) {
    await assert.rejects(db.all.create({ data }), refused("create everything"));
  }
  await db.bigints.create({ data: { id: bigint } });
  await db.texts.create({ data: { id: text } });
  await db.uuids.create({ data: { id: uuid } });
  await db.timestamps.create({ data: { id: timestamp } });
  await db.decimals.create({ data: { id: decimal } });
  for (const [data, remove] of table) {
    const row = await db.all.create({ data });
    assert.deepEqual(row, { ...nothing, ...data, id: row.id });
    await remove();
    assert.equal(await db.all.count(), 0);
  }
});

function refused(action: string) {
  return dbError(
    "ForeignKeyViolation",
    `Cannot ${action}: it refers to a row that does not exist, or is still referred to`,
  );
}

const Parent = model("parents", { id });
const Child = model("children", {
  id,
  kept: field.integer().nullable().references(Parent),
  cascaded: field.integer().nullable().references(Parent, { onDelete: "cascade" }),
  nulled: field.integer().nullable().references(Parent, { onDelete: "set null" }),
  self: field.integer().nullable().references("self", { onDelete: "cascade" }),
});

testOnEach("a deleted row takes, frees or needs those that refer to it", async ({ url }) => {
  await using db = await DbService.with({ child: Child, parent: Parent })
    .open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.parent.createMany({ data: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  await db.child.createMany({
    data: [
      { id: 1, kept: 1, cascaded: null, nulled: 3, self: null },
      { id: 2, kept: null, cascaded: 2, nulled: 3, self: null },
      { id: 3, kept: null, cascaded: null, nulled: null, self: 2 },
      { id: 4, kept: null, cascaded: null, nulled: null, self: 3 },
    ],
  });
  await assert.rejects(db.parent.delete({ where: { id: 1 } }), refused("delete parents"));
  await assert.rejects(db.parent.deleteMany({ where: { id: 1 } }), refused("delete parents"));
  await assert.rejects(
    db.child.update({ where: { id: 1 }, data: { kept: 9 } }),
    refused("update children"),
  );
  await db.parent.delete({ where: { id: 3 } });
  // Rows that are deleted with another one are not counted.
  assert.equal(await db.parent.deleteMany({ where: { id: 2 } }), 1);
  assert.deepEqual(await db.child.findMany(), [
    { id: 1, kept: 1, cascaded: null, nulled: null, self: null },
  ]);
});

test("DbService.createTables() rejects a reference to a table without a model", async () => {
  await using db = await DbService.with({ child: Child }).open(
    DbOptions.fromUrl("sqlite::memory:"),
  );
  await assert.rejects(db.createTables(), {
    name: "TypeError",
    message: "Cannot create tables: children.kept refers to parents, which has no model here",
  });
});

testOnEach(
  "DbService.createTables() distinguishes long and similar names",
  async ({ brand, url }) => {
    const long = "t".repeat(62);
    const column = "c".repeat(62);
    const references = { [`${column}1`]: field.integer().references(Parent) };
    const others = { ...references, [`${column}2`]: field.integer().nullable().references(Parent) };
    const models: Record<string, AnyModel> = {
      one: model(`${long}1`, { id, ...references }),
      two: model(`${long}2`, { id, ...others }),
      three: model("a", { id, b_c: field.integer().references(Parent) }),
      four: model("a_b", { id, c: field.integer().references(Parent) }),
      parent: Parent,
    };
    await using db = await DbService.with(models).open(DbOptions.fromUrl(url));
    await db.createTables();
    const names = {
      sqlite: sql`select 1 from sqlite_master where type = 'index' and name like '%_idx'`,
      postgres: sql`select 1 from pg_indexes where indexname like '%_idx'`,
      mysql: sql`select 1 from information_schema.referential_constraints
      where constraint_schema = database()`,
    };
    assert.equal((await names[brand].execute(db.kysely)).rows.length, 5);
  },
);

testOnEach(
  "DbService.createTables() makes tables once, and leaves what is there",
  async ({ url }) => {
    const instances = await Promise.all([1, 2, 3].map(async () => {
      const db = await DbService.with({ child: Child, parent: Parent }).open(
        DbOptions.fromUrl(url),
      );
      await db.createTables();
      return db;
    }));
    await using db = await openDb(url);
    for (const instance of instances) await instance.close();
    await db.user.create({ data: { tenant_id: "a", email: "a", name: "Ada" } });
    const Wider = model("users", { id, extra: field.text() });
    await using wider = await DbService.with({ wider: Wider }).open(DbOptions.fromUrl(url));
    await wider.createTables();
    assert.equal(await db.user.count(), 1);
    await assert.rejects(db.transaction(() => db.createTables()), {
      name: "TypeError",
      message: "Cannot create tables: a transaction is open",
    });
  },
);

testOnEach("generated keys come after those given, and never again", async ({ url }) => {
  const Key = model("Keys", { id, note: field.text().nullable() });
  const open = async () => {
    const db = await DbService.with({ key: Key }).open(DbOptions.fromUrl(url));
    await db.createTables();
    return db;
  };
  await using db = await open();
  const next = async () => (await db.key.create({ data: {} })).id;
  const keys = [await next()];
  await db.key.create({ data: { id: 50 } });
  keys.push(await next());
  await db.key.createMany({ data: [{ id: 70 }, { id: 60 }] });
  await db.key.createMany({ data: [{ note: "a" }, { note: "b" }] });
  keys.push(await next());
  await db.key.upsert({ where: { id: 90 }, create: { id: 90 }, update: {} });
  await db.key.create({ data: { id: -5 } });
  await db.key.create({ data: { id: 0 } });
  keys.push(await next());
  assert.deepEqual(keys, [1, 51, 73, 91]);
  await db.key.delete({ where: { id: 91 } });
  await db.close();
  await using again = await open();
  assert.equal((await again.key.create({ data: {} })).id, 92);
});

const Big = model("big", { id: field.bigint().primaryKey(), total: field.integer().nullable() });
class Bigs extends DbService.with({ big: Big }) {}

testOnEach("generated bigint keys come after the largest that was given", async ({ url }) => {
  await using db = await Bigs.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.big.createMany({ data: [{ id: 2n ** 60n + 101n }, { id: 2n ** 60n + 100n }] });
  assert.equal((await db.big.create({ data: {} })).id, 2n ** 60n + 102n);
});

testOnEach(
  "a service that cannot be made closes the database it was to be made on",
  async ({ url }) => {
    class Broken extends Bigs {
      override readonly big = (() => {
        throw new Error("broken");
      })();
    }
    await assert.rejects(Broken.open(DbOptions.fromUrl(url)), { message: "broken" });
  },
);
