import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbError, DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import type { Field, FieldKind } from "../../../src/db/types.ts";
import { test } from "../../support/test.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Lists = model("lists", {
  id: field.integer().primaryKey(),
  integers: field.integer().array().nullable(),
  bigints: field.bigint().array().nullable(),
  texts: field.text().array().default([]),
  enums: field.enum(["a", "so so"]).array().nullable(),
  booleans: field.boolean().array().nullable(),
  reals: field.real().array().nullable(),
  decimals: field.decimal({ precision: 30, scale: 2 }).array().nullable(),
  timestamps: field.timestamp().array().nullable(),
  dates: field.date().array().nullable(),
  times: field.time().array().nullable(),
  uuids: field.uuid().array().nullable(),
  // The name of a column of SQLite's json_each.
  value: field.text().array().default(["x", "it's"]),
});
class Db extends DbService.with({ list: Lists }) {}

async function open(url: string): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  return db;
}

const ODD = [
  '"',
  "\\",
  "{}",
  "a,b",
  "null",
  "NULL",
  "",
  " ",
  "é😀",
  "\n\t",
  "a]",
  "'",
  "?",
  "%",
  "$1",
];
const VALUES = {
  integers: [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
  bigints: [0n, -(2n ** 63n), 2n ** 63n - 1n],
  texts: ODD,
  enums: ["so so", "a", "a"],
  booleans: [true, false, true],
  reals: [0, 0.1, -1.5e-300, 1.7976931348623157e308, 1e21, 5e-324],
  decimals: ["1234567890123456789012345678.25", "-0.10", "0.00"],
  timestamps: [new Date("2026-11-26T12:30:00.500Z"), new Date("1000-01-01T00:00:00.000Z")],
  dates: ["2026-11-26", "1000-01-01", "9999-12-31"],
  times: ["00:00:00", "12:30:00.500", "23:59:59.999"],
  uuids: ["2c5ea4c0-4067-11e9-8bad-9b1deb4d3b7d"],
} as const;

testOnEach("arrays of every kind are read as they are written, and found by their elements", async (
  { url },
) => {
  await using db = await open(url);
  const row = { id: 1, ...VALUES, value: ["x", "it's"] };
  const first = await db.list.create({ data: { id: 1, ...VALUES } });
  assert.deepEqual(first, row);
  const nulls = Object.fromEntries(Object.keys(VALUES).map((name) => [name, null]));
  const empty = Object.fromEntries(Object.keys(VALUES).map((name) => [name, []]));
  await db.list.createMany({
    data: [{ id: 2, ...nulls, texts: [], value: [] }, { id: 3, ...empty }, { id: 4, ...VALUES }],
  });
  assert.deepEqual(await db.list.findUnique({ where: { id: 1 } }), row);
  assert.deepEqual(await db.list.findMany({ orderBy: { id: "asc" } }), [
    row,
    { id: 2, ...nulls, texts: [], value: [] },
    { id: 3, ...empty, value: ["x", "it's"] },
    { ...row, id: 4 },
  ]);
  for (const [name, list] of Object.entries(VALUES)) {
    const found = async (condition: object) =>
      (await db.list.findMany({ where: { [name]: condition }, orderBy: { id: "asc" } }))
        .map(({ id }) => id);
    const all: readonly unknown[] = list;
    const empties = name === "texts" ? [2, 3] : [3];
    assert.deepEqual(await found(list), [1, 4], name);
    assert.deepEqual(await found({ equals: list }), [1, 4], name);
    assert.deepEqual(await found({ equals: [] }), empties, name);
    assert.deepEqual(await found({ not: list }), empties, name);
    if (new Set(all).size > 1) {
      assert.deepEqual(
        await found({ equals: all.toReversed() }),
        name === "booleans" ? [1, 4] : [],
      );
    }
    assert.deepEqual(await found({ equals: [...list, list[0]] }), [], name);
    for (const element of all) assert.deepEqual(await found({ has: element }), [1, 4], name);
    assert.deepEqual(await found({ hasEvery: all.toReversed() }), [1, 4], name);
    assert.deepEqual(await found({ hasSome: all.slice(-1) }), [1, 4], name);
    assert.deepEqual(await found({ isEmpty: true }), empties, name);
    assert.deepEqual(await found({ isEmpty: false }), [1, 4], name);
    assert.deepEqual(await found({ hasEvery: [] }), [1, 2, 3, 4], name);
    assert.deepEqual(await found({ hasSome: [] }), [], name);
    assert.deepEqual(await found({ isNull: true }), name === "texts" ? [] : [2], name);
    const isNot = await db.list.findMany({ where: { NOT: { [name]: { has: list[0] } } } });
    assert.deepEqual(isNot.map(({ id }) => id), empties, name);
  }
  const others = ["A", "\\\\", "a", "b", "nul", "  "];
  for (const has of others) {
    assert.equal(await db.list.count({ where: { texts: { has } } }), 0, has);
  }
  const some = { texts: { hasSome: [...others, ""] }, integers: { hasEvery: [0, -1] } };
  assert.equal(await db.list.count({ where: some }), 2);
  assert.equal(await db.list.count({ where: { value: { has: "it's" } } }), 3);
  assert.equal(await db.list.count({ where: { texts: { hasEvery: ["", "b"] } } }), 0);
  assert.equal(await db.list.deleteMany({ where: { texts: { has: "" }, id: 4 } }), 1);
});

testOnEach("set replaces an array, and push adds to its end", async ({ url }) => {
  await using db = await open(url);
  await db.list.create({ data: { id: 1, integers: null } });
  const set = (data: object) => db.list.update({ where: { id: 1 }, data });
  for (const [name, list] of Object.entries(VALUES)) {
    const all: readonly unknown[] = list;
    assert.deepEqual((await set({ [name]: { push: [] } }))[name as "texts"], [], name);
    const pushed = await set({ [name]: { push: list } });
    assert.deepEqual(pushed[name as "texts"], list, name);
    const more = await set({ [name]: { push: list[0] } });
    assert.deepEqual(more[name as "texts"], [...list, list[0]], name);
    assert.equal(await db.list.count({ where: { [name]: [...list, list[0]] } }), 1, name);
    assert.equal(await db.list.count({ where: { [name]: { hasEvery: all } } }), 1, name);
    const again = await set({ [name]: { set: [list[0]] } });
    assert.deepEqual(again[name as "texts"], [list[0]], name);
  }
  await db.list.updateMany({ all: true, data: { texts: { push: ["b", "c"] }, value: [] } });
  await db.list.upsert({ where: { id: 1 }, create: {}, update: { texts: { push: "d" } } });
  const [row] = await db.list.updateManyAndReturn({ all: true, data: { value: { push: "]" } } });
  assert.deepEqual([row?.texts, row?.value], [['"', "b", "c", "d"], ["]"]]);
  await db.list.upsertMany({ by: "id", create: [{ id: 1, texts: ["u"] }], update: ["texts"] });
  assert.deepEqual((await db.list.findFirst())?.texts, ["u"]);
});

testOnEach("what is no list of elements is refused", async ({ url }) => {
  await using db = await open(url);
  const allowed = (name: string, verb = "create") =>
    dbError("CheckViolation", `Cannot ${verb} lists: the value of ${name} is not allowed`, [name]);
  const wrong: readonly (readonly [string, unknown])[] = [
    ["texts", ["a", null]],
    ["texts", [undefined]],
    ["texts", Array(1)],
    ["texts", [1]],
    ["texts", ["a\0"]],
    ["texts", [["a"]]],
    ["enums", ["a", "b"]],
    ["integers", [0.5]],
    ["bigints", [2n ** 63n]],
    ["reals", [NaN]],
    ["decimals", ["0.001"]],
    ["dates", ["2026-02-30"]],
    ["timestamps", [new Date(NaN)]],
  ];
  for (const [name, value] of wrong) {
    const data = { [name]: value } as never;
    await assert.rejects(db.list.create({ data }), allowed(name));
    await assert.rejects(db.list.createMany({ data: [data] }), allowed(name));
    await assert.rejects(db.list.findMany({ where: data }), allowed(name, "read"));
    const push = { [name]: { push: value } } as never;
    await assert.rejects(db.list.update({ where: { id: 1 }, data: push }), allowed(name, "update"));
  }
  await assert.rejects(
    db.list.create({ data: { texts: "a" as never } }),
    dbError("CheckViolation", "Cannot create lists: texts takes a list, not string", ["texts"]),
  );
  await assert.rejects(
    db.list.update({ where: { id: 1 }, data: { texts: { set: null as never } } }),
    dbError("NotNullViolation", "Cannot update lists: the value of texts is missing", ["texts"]),
  );
  for (const [operator, operand] of [["in", [["a"]]], ["hasEvery", "a"], ["isEmpty", 1]] as const) {
    await assert.rejects(db.list.findMany({ where: { texts: { [operator]: operand } } }), {
      name: "TypeError",
      message: `Cannot read lists: texts takes no "${operator}" of ${typeof operand}`,
    });
  }
  await assert.rejects(db.list.findMany({ orderBy: { texts: "asc" } as never }), {
    message: "Cannot read lists: texts has no order",
  });
  assert.throws(() => db.list.scoped({ texts: ["a"] } as never), { name: "TypeError" });
  for (const hasEvery of [{ hasEvery: [] }, { isNull: false }]) {
    await assert.rejects(db.list.deleteMany({ where: { texts: hasEvery } }), { name: "TypeError" });
  }
});

testOnEach("checkTables() compares the types of arrays, and a null in one cannot be read", async (
  { brand, url },
) => {
  await using db = await open(url);
  await db.checkTables();
  await db.list.create({ data: { id: 1 } });
  const stored = brand === "postgres" ? "array['a', null]" : `'["a", null]'`;
  await sql`update lists set texts = ${sql.raw(stored)}`.execute(db.kysely);
  await assert.rejects(
    db.list.findMany(),
    dbError("Database", "Cannot read lists.texts: it has a null"),
  );
  class Other extends DbService.with({
    list: model("lists", {
      id: field.integer().primaryKey(),
      texts: field.integer().array(),
      value: field.text().array().nullable(),
    }),
  }) {}
  await using other = await Other.open(DbOptions.fromUrl(url));
  await assert.rejects(other.checkTables(), (error: unknown) => {
    assert.ok(error instanceof DbError);
    const isNative = brand === "postgres";
    assert.equal(
      error.message.includes("lists.texts: the column is text[], the model has integer[]"),
      isNative,
    );
    assert.ok(error.message.includes("lists.value: the column is not null"), error.message);
    return true;
  });
});

test("field.array() rejects what is no plain field", () => {
  const fields = [
    field.text().unique(),
    field.text().nullable(),
    field.json(),
    field.blob(),
    field.createdAt(),
    field.text().array(),
  ];
  for (const it of fields as unknown as readonly Field<FieldKind>[]) {
    assert.throws(() => (it as unknown as Field<"text">).array(), {
      name: "TypeError",
      message: `Cannot define array: its elements are no plain ${it.kind}`,
    });
  }
  assert.throws(() => field.text().array().default([1] as never), { name: "TypeError" });
  assert.throws(() =>
    model("t", { id: field.integer().primaryKey(), a: field.text().array().unique() })
  );
});

testOnEach(
  "an array has a number only if it is the same one, not its neighbour",
  async ({ url }) => {
    await using db = await open(url);
    const lists = [[0.30000000000000004], [0.3, 1], [5e-324], [0], [1e300], [
      1.0000000000000002e300,
    ]];
    await db.list.createMany({ data: [...lists.map((reals) => ({ reals })), { reals: null }] });
    type Options = NonNullable<Parameters<typeof db.list.findMany>[0]>;
    const read = async (where: NonNullable<Options["where"]>) =>
      (await db.list.findMany({ where })).map(({ reals }) => reals);
    for (const reals of lists) {
      const [first] = reals;
      const found = [reals];
      assert.deepEqual(await read({ reals: { has: first! } }), found);
      assert.deepEqual(await read({ reals: { hasEvery: reals } }), found);
      assert.deepEqual(await read({ reals: { hasSome: [first!, 7] } }), found);
      assert.equal((await read({ NOT: { reals: { has: first! } } })).length, lists.length - 1);
    }
    assert.equal(
      await db.list.updateMany({ where: { reals: { has: 0.3 } }, data: { reals: [] } }),
      1,
    );
    assert.equal(await db.list.deleteMany({ where: { reals: { has: 0 } } }), 1);
  },
);
