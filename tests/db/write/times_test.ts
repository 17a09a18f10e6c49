import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { testOnEach } from "../support/database.ts";

const Note = model("notes", {
  id: field.integer().primaryKey(),
  code: field.text().unique(),
  owner: field.text().nullable(),
  created_at: field.createdAt(),
  updated_at: field.updatedAt().nullable(),
});
class Notes extends DbService.with({ note: Note }) {}

testOnEach("Repository sets createdAt and updatedAt", async ({ url }) => {
  let ms = 1000;
  const at = (time: number) => new Date(time);
  // A clock that would show whether an operation reads it twice.
  await using db = await Notes.open(DbOptions.fromUrl(url).now(() => ms++));
  await db.createTables();
  const { note } = db;
  const row = { id: 1, code: "a", owner: null, created_at: at(1000), updated_at: at(1000) };
  assert.deepEqual(await note.create({ data: { code: "a" } }), row);
  const where = { id: 1 };
  assert.deepEqual(await note.update({ where, data: {} }), row);
  assert.deepEqual(await note.update({ where, data: { code: undefined } }), row);
  assert.equal(await note.updateMany({ where, data: {} }), 1);
  assert.deepEqual(await note.upsert({ where, create: { code: "a" }, update: {} }), row);
  ms = 2000;
  const touched = { ...row, owner: "b", updated_at: at(2000) };
  assert.deepEqual(await note.update({ where, data: { owner: "b" } }), touched);
  const given = { created_at: at(5), updated_at: at(6) };
  assert.deepEqual(await note.update({ where, data: given }), { ...touched, ...given });
  assert.deepEqual(await note.update({ where, data: { updated_at: null } }), {
    ...touched,
    ...given,
    updated_at: null,
  });
  ms = 3000;
  await note.createMany({ data: [{ code: "b" }, { code: "c", ...given }, { code: "d" }] });
  const times = await note.findMany({
    where: { id: { gt: 1 } },
    orderBy: { id: "asc" },
    select: { created_at: true, updated_at: true },
  });
  const created = { created_at: at(3000), updated_at: at(3000) };
  assert.deepEqual(times, [created, given, created]);
});

testOnEach("Repository sets updatedAt in every row that upsertMany updates", async ({ url }) => {
  let ms = 1000;
  const at = (time: number) => new Date(time);
  await using db = await Notes.open(DbOptions.fromUrl(url).now(() => ms));
  await db.createTables();
  const { note } = db;
  await note.createMany({ data: [{ code: "a" }, { code: "b", owner: "x" }] });
  ms = 2000;
  const create = [{ code: "a", updated_at: at(5) }, { code: "c", updated_at: at(5) }];
  assert.equal(await note.upsertMany({ by: "code", create, update: ["owner"] }), 2);
  ms = 3000;
  const some = [{ code: "b", updated_at: at(7) }];
  await note.scoped({ owner: "x" }).upsertMany({
    by: "code",
    create: some,
    update: ["updated_at"],
  });
  const rows = await note.findMany({ orderBy: { code: "asc" } });
  assert.deepEqual(rows.map((row) => [row.code, row.created_at, row.updated_at]), [
    ["a", at(1000), at(2000)],
    ["b", at(1000), at(7)],
    ["c", at(2000), at(5)],
  ]);
  // A scope of the time is that of its rows.
  const scoped = note.scoped({ updated_at: at(7) });
  assert.equal(await scoped.updateMany({ all: true, data: { owner: "y" } }), 1);
  assert.equal(await note.count({ where: { owner: "y", updated_at: at(7) } }), 1);
});

test("Field.default() rejects a field that the repository sets", () => {
  assert.throws(() => field.createdAt().default(new Date(0)), {
    name: "TypeError",
    message: "Cannot set default: the field has another",
  });
});
