import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { testOnEach } from "../support/database.ts";

const Size = model("sizes", {
  id: field.integer().primaryKey(),
  name: field.text().unique(),
  value: field.real(),
});

class Db extends DbService.with({ size: Size }) {}

/** Doubles of few digits, of which computing with a power of ten would change the last bits. */
const VALUES = [943.5105995388919, 0.1, 9.290909090909091, 2.2250738585072014e-308, 123456.7890123];

testOnEach("a double is read as it was written, whatever the statement", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  for (const [i, value] of VALUES.entries()) {
    const created = await db.size.create({ data: { name: `${i}`, value } });
    assert.equal(created.value, value);
    assert.equal(await db.size.count({ where: { value: created.value } }), 1);
  }
  const updated = await db.size.update({ where: { name: "0" }, data: { name: "first" } });
  assert.equal(updated.value, VALUES[0]);
  const orderBy = { id: "asc" } as const;
  const values = (rows: readonly { readonly value: number }[]) => rows.map(({ value }) => value);
  assert.deepEqual(values(await db.size.findMany({ orderBy })), VALUES);
  assert.deepEqual(values(await Array.fromAsync(db.size.stream({ orderBy }))), VALUES);
  const where = { id: { in: [1, 2, 3, 4, 5] } };
  assert.deepEqual(values(await db.size.findMany({ where, orderBy })), VALUES);
  const most = await db.size.aggregate({ _max: { value: true } });
  assert.equal(most._max.value, 123456.7890123);
  const removed = await db.size.delete({ where: { name: "first" } });
  assert.equal(removed.value, VALUES[0]);
});
