import { sql } from "kysely";
import assert from "node:assert/strict";
import {
  belongsTo,
  DbOptions,
  DbService,
  field,
  hasMany,
  manyToMany,
  model,
} from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, mistake, testOnEach } from "../support/database.ts";

const Site = model("sites", { id: field.integer().primaryKey(), host: field.text() });
const Tag = model("tags", { id: field.uuid().primaryKey(), label: field.text() });
/** Its key has a column that refers to another model, and one of another name. */
const Page = model("pages", {
  tenant: field.text().map("tenant_name"),
  number: field.bigint(),
  site_id: field.integer().nullable().references(Site),
  title: field.text().default(""),
}, { primaryKey: ["tenant", "number"] });
const SiteTag = model("site_tags", {
  site_id: field.integer().references(Site),
  tag_id: field.uuid().references(Tag),
}, { primaryKey: ["site_id", "tag_id"] });
const Note = model("notes", {
  day: field.date(),
  author: field.text(),
  deleted_at: field.deletedAt(),
}, { primaryKey: ["day", "author"] });

const MODELS = { site: Site, tag: Tag, page: Page, siteTag: SiteTag, note: Note };
const RELATIONS = {
  site: { pages: hasMany(Page.site_id), tags: manyToMany(SiteTag.site_id, SiteTag.tag_id) },
  tag: { sites: manyToMany(SiteTag.tag_id, SiteTag.site_id) },
  page: { site: belongsTo(Page.site_id) },
};
class Db extends DbService.with(MODELS, RELATIONS) {}

let seen: string[] = [];
const note = (event: string) => (rows: readonly unknown[]) =>
  void seen.push(`${event} ${rows.length}`);
const noted = { created: note("created"), updated: note("updated"), deleted: note("deleted") };
class Hooked extends DbService.with(MODELS, RELATIONS, {
  on: { page: noted, siteTag: noted, note: noted },
}) {}

/** Runs a test on each database, with hooks and without. */
function testKeys(name: string, run: (db: Db, isHooked: boolean) => Promise<void>): void {
  for (const Service of [Db, Hooked]) {
    testOnEach(Service === Db ? name : `${name}, with hooks`, async ({ url }) => {
      await using db = await Service.open(DbOptions.fromUrl(url));
      await db.createTables();
      await db.checkTables();
      seen = [];
      await run(db, Service === Hooked);
    });
  }
}

const pageOf = (tenant: string, number: bigint, title = "") => ({
  tenant,
  number,
  site_id: null,
  title,
});
const KEYS = [["a", 1n], ["a", 2n], ["b", 1n], ["b", 3n], ["c", 2n]] as const;
const PAGES = KEYS.map(([tenant, number]) => pageOf(tenant, number, `${tenant}${number}`));
const keyOf = (tenant: string, number: bigint) => ({ tenant_number: { tenant, number } });

testKeys("a primary key of several columns names a row", async (db, isHooked) => {
  const a = await db.page.create({ data: { tenant: "a", number: 1n } });
  assert.deepEqual(a, pageOf("a", 1n));
  assert.deepEqual(await db.page.findUnique({ where: keyOf("a", 1n) }), a);
  assert.equal(await db.page.findUnique({ where: keyOf("a", 2n) }), null);
  assert.deepEqual(
    await db.page.update({ where: keyOf("a", 1n), data: { title: "x" } }),
    pageOf("a", 1n, "x"),
  );
  const upsert = (title: string) =>
    db.page.upsert({ where: keyOf("b", 1n), create: { title }, update: { title } });
  assert.deepEqual(await upsert("new"), pageOf("b", 1n, "new"));
  assert.deepEqual(await upsert("old"), pageOf("b", 1n, "old"));
  await assert.rejects(
    db.page.create({ data: { tenant: "a", number: 1n } }),
    dbError(
      "UniqueViolation",
      "Cannot create pages: the value of tenant, number is already taken",
      ["tenant", "number"],
    ),
  );
  await assert.rejects(
    db.page.create({ data: { tenant: "a" } as { tenant: string; number: bigint } }),
    dbError("NotNullViolation", "Cannot create pages: the value of number is missing", ["number"]),
  );
  await assert.rejects(
    db.page.update({ where: keyOf("a", 1n), data: { number: 2n } as object }),
    mistake("Cannot update pages: number is a column of the primary key"),
  );
  assert.deepEqual(await db.page.delete({ where: keyOf("a", 1n) }), pageOf("a", 1n, "x"));
  await assert.rejects(db.page.delete({ where: keyOf("a", 1n) }), { code: "RowNotFound" });
  const expected = ["created 1", "updated 1", "created 1", "updated 1", "deleted 1"];
  assert.deepEqual(seen, isHooked ? expected : []);
});

testKeys("many rows have primary keys of several columns", async (db, isHooked) => {
  const shuffled = [PAGES[3]!, PAGES[0]!, PAGES[4]!, PAGES[2]!, PAGES[1]!];
  assert.deepEqual(await db.page.createManyAndReturn({ data: shuffled }), shuffled);
  assert.equal(await db.page.createMany({ data: PAGES, skipDuplicates: true }), 0);
  const more = [...PAGES, pageOf("d", 1n)];
  assert.equal(await db.page.createMany({ data: more, skipDuplicates: true }), 1);
  assert.equal(
    await db.page.upsertMany({
      by: "tenant_number",
      create: [pageOf("d", 1n, "d1"), pageOf("d", 2n, "d2")],
      update: ["title"],
    }),
    2,
  );
  const updated = await db.page.updateManyAndReturn({
    where: { tenant: { in: ["a", "d"] } },
    data: { title: "x" },
  });
  assert.deepEqual(
    updated.map(({ tenant, number, title }) => `${tenant}${number}${title}`).toSorted(),
    ["a1x", "a2x", "d1x", "d2x"],
  );
  assert.equal(await db.page.updateMany({ where: { title: "x" }, data: { title: "y" } }), 4);
  // On MySQL, the rows to delete are found before.
  assert.equal(
    await db.page.deleteMany({ where: { title: "y", OR: [{ site: null }, { tenant: "d" }] } }),
    4,
  );
  await db.site.create({ data: { host: "h" } });
  await db.page.updateMany({ where: { tenant: "b" }, data: { site_id: 1 } });
  const related = { site: { pages: { some: { number: 3n } } } };
  assert.equal(await db.page.updateMany({ where: related, data: { title: "s" } }), 2);
  assert.equal(await db.page.deleteMany({ where: related }), 2);
  assert.deepEqual(await db.page.findMany(), [PAGES[4]]);
  if (isHooked) assert.equal(seen.at(-1), "deleted 2");
});

testKeys("pages and streams are in the order of a key of several columns", async (db) => {
  await db.page.createMany({ data: PAGES.toReversed() });
  const skips = [0, 1, 2, 3, 4];
  const found = await Promise.all(skips.map((skip) => db.page.findFirst({ skip })));
  assert.deepEqual(found, PAGES);
  const byNumber = { orderBy: { number: "desc" } } as const;
  const expected = [PAGES[3], PAGES[1], PAGES[4], PAGES[0], PAGES[2]];
  assert.deepEqual(
    await Promise.all(skips.map((skip) => db.page.findFirst({ ...byNumber, skip }))),
    expected,
  );
  for (const batchSize of [1, 2, 3, 10]) {
    assert.deepEqual(await Array.fromAsync(db.page.stream({ batchSize })), PAGES);
    assert.deepEqual(await Array.fromAsync(db.page.stream({ batchSize, ...byNumber })), expected);
  }
  assert.deepEqual(
    await db.page.findMany({ distinct: ["tenant"], select: { tenant: true, number: true } }),
    [["a", 1n], ["b", 1n], ["c", 2n]].map(([tenant, number]) => ({ tenant, number })),
  );
  assert.deepEqual(
    await db.transaction(() => db.page.findMany({ lock: "update", take: 2 })),
    PAGES.slice(0, 2),
  );
  assert.deepEqual(await db.page.scoped({ tenant: "b" }).findMany({ take: 5 }), PAGES.slice(2, 4));
});

testKeys("related rows have keys of several columns", async (db) => {
  await db.site.createMany({ data: [{ host: "1" }, { host: "2" }] });
  await db.page.createMany({
    data: PAGES.map((page, i) => ({ ...page, site_id: i === 4 ? 2 : 1 })),
  });
  const titles = (options: object) =>
    db.site.findMany({ orderBy: { id: "asc" }, include: { pages: options } })
      .then((sites) => sites.map(({ pages }) => pages.map(({ title }) => title)));
  assert.deepEqual(await titles({}), [["a1", "a2", "b1", "b3"], ["c2"]]);
  assert.deepEqual(await titles({ take: 2, skip: 1 }), [["a2", "b1"], []]);
  assert.deepEqual(
    await titles({ take: 2, orderBy: { number: "desc" }, select: { title: true } }),
    [["b3", "a2"], ["c2"]],
  );
  assert.deepEqual(
    await db.site.findFirst({ include: { _count: { pages: true } }, select: { host: true } }),
    { host: "1", _count: { pages: 4 } },
  );
});

const TAGS = ["a", "b", "c"].map((label, i) => ({
  id: `00000000-0000-4000-8000-00000000000${i}`,
  label,
}));

testKeys("a join model has a key of several columns", async (db, isHooked) => {
  await db.tag.createMany({ data: TAGS });
  const [a, b, c] = TAGS.map(({ id }) => ({ id }));
  await db.site.create({ data: { host: "1", tags: { connect: [a!, b!] } } });
  await db.site.create({ data: { host: "2", tags: { connect: [c!] } } });
  const labels = (options: object = {}) =>
    db.site.findMany({ orderBy: { id: "asc" }, include: { tags: options } })
      .then((sites) => sites.map(({ tags }) => tags.map(({ label }) => label)));
  assert.deepEqual(await labels(), [["a", "b"], ["c"]]);
  await db.site.update({ where: { id: 1 }, data: { tags: { set: [b!, c!] } } });
  assert.deepEqual(await labels(), [["b", "c"], ["c"]]);
  assert.deepEqual(await labels({ take: 1, orderBy: { label: "desc" } }), [["c"], ["c"]]);
  assert.deepEqual(await labels({ take: 1, skip: 1 }), [["c"], []]);
  await db.site.update({ where: { id: 1 }, data: { tags: { disconnect: [b!, c!], connect: a! } } });
  assert.deepEqual(await labels(), [["a"], ["c"]]);
  await db.tag.update({ where: c!, data: { sites: { set: [{ id: 1 }, { id: 2 }] } } });
  await db.tag.update({ where: c!, data: { sites: { disconnect: [{ id: 1 }, { id: 2 }] } } });
  assert.deepEqual(await labels(), [["a"], []]);
  const where = { site_id_tag_id: { site_id: 1, tag_id: a!.id } };
  assert.deepEqual(await db.siteTag.findUnique({ where }), { site_id: 1, tag_id: a!.id });
  if (isHooked) {
    assert.deepEqual(seen.slice(0, 4), ["created 2", "created 1", "deleted 1", "created 1"]);
  }
});

testKeys("nested writes find rows by keys of several columns", async (db) => {
  await db.page.createMany({ data: PAGES });
  const [a1, a2, b1, b3, c2] = KEYS.map(([tenant, number]) => keyOf(tenant, number));
  const { id } = await db.site.create({
    data: { host: "h", pages: { connect: [a1!, a2!, b1!], create: { tenant: "d", number: 1n } } },
  });
  const titles = async () =>
    (await db.page.findMany({ where: { site_id: id }, orderBy: { title: "asc" } }))
      .map(({ title }) => title);
  assert.deepEqual(await titles(), ["", "a1", "a2", "b1"]);
  await db.site.update({ where: { id }, data: { pages: { set: [a2!, b1!, c2!] } } });
  assert.deepEqual(await titles(), ["a2", "b1", "c2"]);
  await db.site.update({
    where: { id },
    data: {
      pages: {
        disconnect: [a2!, b3!],
        connectOrCreate: { where: keyOf("e", 1n), create: { tenant: "e", number: 1n, title: "e" } },
      },
    },
  });
  assert.deepEqual(await titles(), ["b1", "c2", "e"]);
  await db.page.upsert({
    where: keyOf("f", 1n),
    create: { title: "f", site: { connect: { id } } },
    update: {},
  });
  assert.deepEqual(await titles(), ["b1", "c2", "e", "f"]);
});

testKeys("rows with keys of several columns are marked as deleted", async (db, isHooked) => {
  const row = { day: "2026-01-01", author: "a", deleted_at: null };
  await db.note.createMany({ data: ["a", "b", "c"].map((author) => ({ day: row.day, author })) });
  const where = { day_author: { day: row.day, author: "a" } };
  assert.ok((await db.note.delete({ where })).deleted_at);
  assert.equal(await db.note.findUnique({ where }), null);
  assert.equal(await db.note.deleteMany({ where: { author: { in: ["a", "b"] } } }), 1);
  const all = db.note.withDeleted();
  assert.equal(await all.count(), 3);
  assert.deepEqual(await all.update({ where, data: { deleted_at: null } }), row);
  assert.deepEqual(await db.note.purge({ where }), row);
  assert.equal(await all.purgeMany({ all: true }), 2);
  if (isHooked) assert.equal(seen.filter((it) => it.startsWith("deleted")).length, 4);
});

testOnEach("checkTables() compares primary keys of several columns", async ({ brand, url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  const id = field.text();
  const One = model("pages", { tenant: id.primaryKey().map("tenant_name") });
  const Other = model("tags", { id: field.uuid(), label: field.text() }, {
    primaryKey: ["id", "label"],
  });
  const Bare = model("bare", { id: field.integer(), no: field.integer() }, {
    primaryKey: ["id", "no"],
  });
  await sql`create table bare (id bigint not null, no bigint not null)`.execute(db.kysely);
  await using others = await DbService.with({ one: One, other: Other, bare: Bare })
    .open(DbOptions.fromUrl(url));
  await assert.rejects(
    others.checkTables(),
    dbError(
      "Database",
      [
        "Cannot use tables: they differ from the models in 4 places",
        "pages.tenant (tenant_name): the primary key is (tenant_name, number), the model has " +
        "tenant_name",
        "pages.number: the column is not null and has no default, the model lacks it",
        "tags: the primary key is (id), the model has (id, label)",
        "bare: there is no primary key, the model has (id, no)",
      ].join("\n  "),
    ),
    brand,
  );
});

test("model() rejects invalid primary keys", () => {
  const fields = {
    a: field.text(),
    b: field.text().nullable(),
    c: field.integer().defaultSql("1"),
    d: field.integer(),
  };
  const keyed = { ...fields, id: field.integer().primaryKey() };
  const wrong: readonly (readonly [typeof fields, object, string])[] = [
    [fields, {}, "it has 0 primary keys, not one"],
    [keyed, { primaryKey: ["a", "d"] }, "it has 2 primary keys, not one"],
    [fields, { primaryKey: "a" }, "primaryKey is not a list"],
    [fields, { primaryKey: ["a"] }, "primaryKey has no list of two columns or more"],
    [fields, { primaryKey: ["a", "e"] }, 'primaryKey has no column "e"'],
    [fields, { primaryKey: ["a", "b"] }, "the primary key b is nullable"],
    [fields, { primaryKey: ["a", "c"] }, "primaryKey has c, whose default is SQL"],
    [fields, { primaryKey: ["a", "d"], unique: [["a", "d"]] }, "two keys have the name a_d"],
    [
      { ...fields, e: field.text().references("self") } as typeof fields,
      { primaryKey: ["a", "d"] },
      "e cannot refer to t: its key has 2 columns",
    ],
  ];
  for (const [fields, options, reason] of wrong) {
    assert.throws(() => model("t", fields, options), {
      name: "TypeError",
      message: `Cannot define t: ${reason}`,
    });
  }
  assert.throws(() => field.text().references(Page), {
    name: "TypeError",
    message: "Cannot refer to pages: its key has 2 columns",
  });
});
