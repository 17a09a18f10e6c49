/** Values that are refused because of the column that stores them. */
import assert from "node:assert/strict";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { dbError, testOnEach } from "../support/database.ts";

const Tag = model("tags", {
  name: field.text().primaryKey(),
  code: field.text().unique(),
  note: field.text().nullable(),
});
const Use = model("uses", {
  id: field.integer().primaryKey(),
  tag: field.text().references(Tag).nullable(),
});
class Tags extends DbService.with({ tag: Tag, use: Use }) {}

const LONGEST = "😀".repeat(255);
/** MySQL would cut the spaces. */
const LONG = [`a${" ".repeat(300)}`, `${LONGEST} `];

testOnEach("indexed text of more than 255 characters is refused, and shorter text kept", async (
  { url },
) => {
  await using db = await Tags.open(DbOptions.fromUrl(url));
  await db.createTables();
  const first = await db.tag.create({
    data: { name: LONGEST, code: "a".padEnd(255), note: LONG[0]! },
  });
  assert.deepEqual(first, { name: LONGEST, code: "a".padEnd(255), note: LONG[0] });
  const use = await db.use.create({ data: { tag: LONGEST } });
  for (const long of LONG) {
    const row = { name: "b", code: "b" };
    const where = { name: LONGEST };
    const writes: readonly (readonly [() => Promise<unknown>, string, string])[] = [
      [() => db.tag.create({ data: { ...row, name: long } }), "create tags", "name"],
      [() => db.tag.create({ data: { ...row, code: long } }), "create tags", "code"],
      [() => db.tag.createMany({ data: [row, { ...row, name: long }] }), "create tags", "name"],
      [() => db.tag.update({ where, data: { code: long } }), "update tags", "code"],
      [() => db.tag.updateMany({ where, data: { code: long } }), "update tags", "code"],
      [
        () => db.tag.upsert({ where, create: { code: "b" }, update: { code: long } }),
        "upsert tags",
        "code",
      ],
      [
        () => db.tag.upsert({ where: { name: long }, create: { code: "b" }, update: {} }),
        "upsert tags",
        "name",
      ],
      [() => db.use.create({ data: { tag: long } }), "create uses", "tag"],
      [
        () => db.use.update({ where: { id: use.id }, data: { tag: long } }),
        "update uses",
        "tag",
      ],
    ];
    for (const [write, action, column] of writes) {
      const message = `Cannot ${action}: ${column} takes at most 255 characters`;
      await assert.rejects(write(), dbError("CheckViolation", message, [column]));
    }
    assert.equal(await db.tag.findUnique({ where: { name: long } }), null);
  }
  assert.deepEqual(await db.tag.findMany(), [first]);
  assert.deepEqual(await db.use.findMany(), [use]);
}, { brands: ["mysql"] });

testOnEach("indexed text of any length is kept", async ({ url }) => {
  await using db = await Tags.open(DbOptions.fromUrl(url));
  await db.createTables();
  const row = { name: LONG[0]!, code: LONG[1]!, note: null };
  assert.deepEqual(await db.tag.create({ data: row }), row);
}, { brands: ["sqlite", "postgres"] });

const Item = model("items", { id: field.integer().primaryKey(), name: field.text() });
const Big = model("bigs", { id: field.bigint().primaryKey(), name: field.text() });
class Items extends DbService.with({ item: Item, big: Big }) {}

testOnEach(
  "a key so large that the next ones have no room is refused, the largest other not",
  async (
    { url },
  ) => {
    await using db = await Items.open(DbOptions.fromUrl(url));
    await db.createTables();
    const name = "a";
    const last = 2 ** 53 - 1 - 2 ** 32;
    const lastBig = 2n ** 63n - 1n - 2n ** 32n;
    for (const id of [last + 1, Number.MAX_SAFE_INTEGER]) {
      const refusal = (verb: string) =>
        dbError("CheckViolation", `Cannot ${verb} items: id takes at most ${last}`, ["id"]);
      await assert.rejects(db.item.create({ data: { id, name } }), refusal("create"));
      await assert.rejects(
        db.item.createMany({ data: [{ name }, { id, name }] }),
        refusal("create"),
      );
      const upsert = { where: { id }, create: { name }, update: { name } };
      await assert.rejects(db.item.upsert(upsert), refusal("upsert"));
    }
    const refusal = dbError("CheckViolation", `Cannot create bigs: id takes at most ${lastBig}`, [
      "id",
    ]);
    for (const id of [lastBig + 1n, 2n ** 63n - 1n]) {
      await assert.rejects(db.big.create({ data: { id, name } }), refusal);
      await assert.rejects(db.big.createMany({ data: [{ id, name }] }), refusal);
    }
    assert.deepEqual([await db.item.count(), await db.big.count()], [0, 0]);
    await db.item.create({ data: { id: last, name } });
    await db.big.create({ data: { id: lastBig, name } });
    assert.deepEqual(await db.item.create({ data: { name } }), { id: last + 1, name });
    assert.deepEqual(await db.big.create({ data: { name } }), { id: lastBig + 1n, name });
    assert.equal(await db.item.createMany({ data: [{ name }] }), 1);
    assert.equal((await db.item.findMany()).length, 3);
  },
);

const Chosen = model("chosen", {
  id: field.integer().primaryKey().default(() => Number.MAX_SAFE_INTEGER),
  other: field.integer(),
});
class Chosens extends DbService.with({ chosen: Chosen }) {}

testOnEach("a key that is not generated can be the largest number", async ({ url }) => {
  await using db = await Chosens.open(DbOptions.fromUrl(url));
  await db.createTables();
  const row = { id: Number.MAX_SAFE_INTEGER, other: Number.MAX_SAFE_INTEGER };
  assert.deepEqual(await db.chosen.create({ data: { other: row.other } }), row);
});
