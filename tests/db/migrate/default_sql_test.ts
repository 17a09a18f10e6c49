import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, testOnEach } from "../support/database.ts";

const NOW = {
  postgres: "now()",
  mysql: "utc_timestamp(3)",
  sqlite: "strftime('%Y-%m-%dT%H:%M:%fZ')",
};
const id = field.integer().primaryKey();
const Entry = model("entries", {
  id,
  code: field.text().unique(),
  label: field.text().defaultSql("lower('NEW')"),
  rank: field.integer().nullable().defaultSql("1 + 2"),
  at: field.timestamp().defaultSql(NOW),
  price: field.decimal({ precision: 9, scale: 2 }).defaultSql({
    postgres: "1.5",
    mysql: "1.5",
    sqlite: "150",
  }),
});
const Empty = model("empties", { id, label: field.text().defaultSql("'x'") });
class Entries extends DbService.with({ entry: Entry, empty: Empty }) {}

testOnEach(
  "the database sets the values of defaultSql, and checkTables knows it",
  async ({ url }) => {
    await using db = await Entries.open(DbOptions.fromUrl(url));
    await db.createTables();
    await db.checkTables();
    const before = Date.now() - 60_000;
    const { at, ...row } = await db.entry.create({ data: { code: "a" } });
    assert.deepEqual(row, { id: 1, code: "a", label: "new", rank: 3, price: "1.50" });
    assert.ok(at.getTime() > before && at.getTime() < before + 120_000, at.toISOString());
    const given = { label: "b", rank: null, at: new Date(5), price: "2.00" };
    const rows = await db.entry.createManyAndReturn({
      data: [
        { code: "b", ...given },
        { code: "c", at },
        { code: "d", ...given, rank: undefined },
        { id: 9, code: "e", at },
      ],
    });
    assert.deepEqual(
      rows.map(({ id: _, ...rest }) => rest),
      [
        { code: "b", ...given },
        { ...row, code: "c", at, id: undefined },
        { code: "d", ...given, rank: 3 },
        { ...row, code: "e", at, id: undefined },
      ].map(({ id: _, ...rest }: Record<string, unknown>) => rest),
    );
    const created = await db.empty.createManyAndReturn({ data: [{}, {}, { label: "y" }, {}] });
    assert.deepEqual(created.map(({ label }) => label), ["x", "x", "y", "x"]);
    assert.equal(await db.empty.createMany({ data: [{}, {}], skipDuplicates: true }), 2);
  },
);

testOnEach("Repository.upsertMany() sets the default of the database", async ({ url }) => {
  await using db = await Entries.open(DbOptions.fromUrl(url));
  await db.createTables();
  const given = { label: "b", rank: 0, at: new Date(5) };
  await db.entry.createMany({
    data: [{ id: 1, code: "a", ...given }, { id: 2, code: "b", ...given }],
  });
  const update = ["label", "rank"] as const;
  await db.entry.upsertMany({
    by: "code",
    create: [{ code: "a" }, { code: "c", rank: 7 }],
    update,
  });
  // On MySQL, one that conflicts with another row besides is written by itself.
  const create = [{ id: 2, code: "b", label: "kept" }];
  await db.entry.upsertMany({ by: "id", create, update: [...update, "code"] });
  await db.entry.scoped({ rank: 3 }).upsertMany({
    by: "code",
    create: [{ code: "a" }],
    update: ["label"],
  });
  const rows = await db.entry.findMany({ orderBy: { code: "asc" } });
  assert.deepEqual(rows.map(({ code, label, rank }) => [code, label, rank]), [
    ["a", "new", 3],
    ["b", "kept", 3],
    ["c", "new", 7],
  ]);
});

testOnEach("DbService.checkTables() reports a default that the database lacks", async ({ url }) => {
  class Bare extends DbService.with({
    entry: model("entries", { id, label: field.text(), rank: field.integer().nullable() }),
  }) {}
  await using bare = await Bare.open(DbOptions.fromUrl(url));
  await bare.createTables();
  class Filled extends DbService.with({
    entry: model("entries", {
      id,
      label: field.text().defaultSql("'x'"),
      rank: field.integer().nullable().defaultSql("1"),
    }),
  }) {}
  await using db = await Filled.open(DbOptions.fromUrl(url));
  const lacks = "the column has no default, the model has one in SQL";
  await assert.rejects(
    db.checkTables(),
    dbError(
      "Database",
      "Cannot use tables: they differ from the models in 2 places\n" +
        `  entries.label: ${lacks}\n  entries.rank: ${lacks}`,
    ),
  );
  await sql`drop table entries`.execute(db.kysely);
  await db.createTables();
  await db.checkTables();
});

test("Field.defaultSql() rejects a second default, and that of a primary key", () => {
  const other = { name: "TypeError", message: "Cannot set default: the field has another" };
  assert.throws(() => field.text().default("a").defaultSql("'a'"), other);
  assert.throws(() => field.text().defaultSql("'a'").default("a"), other);
  assert.throws(() => model("t", { id: field.text().primaryKey().defaultSql("'a'") }), {
    name: "TypeError",
    message: "Cannot define t: the default of the primary key id is SQL",
  });
});
