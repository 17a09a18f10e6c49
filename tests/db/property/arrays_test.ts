/** Conditions on arrays, and pushes to them, have the results of lists in memory. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { testOnEach } from "../support/database.ts";
import { holds } from "./memory_condition.ts";

const Bag = model("bags", {
  id: field.integer().primaryKey(),
  flag: field.boolean(),
  items: field.text().array().nullable(),
});
class Db extends DbService.with({ bag: Bag }) {}

const item = fc.constantFrom(
  "",
  " ",
  "a",
  "A",
  "1",
  "null",
  '"',
  "\\",
  "]",
  ",",
  "é😀",
  "\n",
  "{}",
);
const items = fc.array(item, { maxLength: 4 });
const rows = fc.array(fc.record({ flag: fc.boolean(), items: fc.option(items, { freq: 4 }) }), {
  minLength: 1,
  maxLength: 8,
});

const condition = fc.oneof(
  fc.tuple(fc.constantFrom("equals", "not", "hasEvery", "hasSome"), items),
  fc.tuple(fc.constant("has"), item),
  fc.tuple(fc.constant("isEmpty"), fc.boolean()),
);

testOnEach("arrays are found and changed as lists in memory are", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  const property = fc.asyncProperty(
    rows,
    fc.array(condition, { minLength: 6, maxLength: 6 }),
    items,
    async (given, conditions, pushed) => {
      await db.bag.deleteMany({ all: true });
      const data = given.map((row, index) => ({ id: index + 1, ...row }));
      await db.bag.createMany({ data });
      const scoped = db.bag.scoped({ flag: true });
      for (const it of conditions) {
        for (const isNot of [false, true]) {
          const own = { items: Object.fromEntries([it]) };
          const where = isNot ? { NOT: own } : own;
          const met = data.filter((row) => holds(where, row) === true);
          const orderBy = { id: "asc" } as const;
          assert.deepEqual(await db.bag.findMany({ where, orderBy }), met, JSON.stringify(where));
          assert.equal(await scoped.count({ where }), met.filter(({ flag }) => flag).length);
        }
      }
      await scoped.updateMany({ all: true, data: { items: { push: pushed } } });
      const after = data.map((row) =>
        row.flag ? { ...row, items: [...row.items ?? [], ...pushed] } : row
      );
      assert.deepEqual(await db.bag.findMany({ orderBy: { id: "asc" } }), after);
    },
  );
  await fc.assert(property, { numRuns: 30 });
});
