import assert from "node:assert/strict";
import { sql } from "kysely";
import {
  belongsTo,
  DbOptions,
  DbService,
  field,
  hasMany,
  type Model,
  model,
} from "../../../src/db/mod.ts";
import { test } from "../../support/test.ts";
import { dbError, mistake, testOnEach } from "../support/database.ts";

const Site = model("sites", { id: field.integer().primaryKey(), host: field.text() });
const Page = model("pages", {
  id: field.integer().primaryKey(),
  tenant: field.text().map("tenant_name"),
  site_id: field.integer().nullable().references(Site),
  slug: field.text(),
  lang: field.enum(["de", "en"]).default("en"),
  title: field.text().default(""),
}, {
  unique: [["tenant", "slug"], ["site_id", "slug", "lang"]],
  index: ["title", ["tenant", "title"]],
});
class Db extends DbService.with({ site: Site, page: Page }, {
  site: { pages: hasMany(Page.site_id) },
  page: { site: belongsTo(Page.site_id) },
}) {}
/** The same with functions that run after each write. */
class Hooked extends DbService.with({ site: Site, page: Page }, {
  site: { pages: hasMany(Page.site_id) },
  page: { site: belongsTo(Page.site_id) },
}, { on: { page: { created() {}, updated() {}, deleted() {} } } }) {}

const [A, B] = [{ tenant: "t", slug: "a" }, { tenant: "t", slug: "b" }];
const pageOf = (page: { id: number; tenant: string; slug: string }) => ({
  site_id: null,
  lang: "en" as const,
  title: "",
  ...page,
});

/** Runs a test on each database, with hooks and without. */
function testPages(name: string, run: (db: Db) => Promise<void>): void {
  for (const Service of [Db, Hooked]) {
    testOnEach(Service === Db ? name : `${name}, with hooks`, async ({ url }) => {
      await using db = await Service.open(DbOptions.fromUrl(url));
      await db.createTables();
      await run(db);
    });
  }
}

testPages("a key of several columns names a row", async (db) => {
  await db.page.createMany({ data: [A, B, { tenant: "u", slug: "a" }] });
  const a = pageOf({ id: 1, ...A });
  assert.deepEqual(await db.page.findUnique({ where: { tenant_slug: A } }), a);
  assert.deepEqual(
    await db.page.findUnique({
      where: { tenant_slug: { ...Page.tenant.equals("t"), slug: "a" }, id: 1 },
      select: { slug: true },
    }),
    { slug: "a" },
  );
  for (
    const where of [
      { tenant_slug: { tenant: "t", slug: "c" } },
      { tenant_slug: A, id: 2 },
      { site_id_slug_lang: { site_id: 1, slug: "a", lang: "en" as const } },
    ]
  ) assert.equal(await db.page.findUnique({ where }), null);
  assert.deepEqual(
    await db.page.update({ where: { tenant_slug: A }, data: { title: "x" } }),
    { ...a, title: "x" },
  );
  // It is found by what the update changes.
  assert.deepEqual(
    await db.page.update({ where: { tenant_slug: A }, data: { slug: "z" } }),
    { ...a, title: "x", slug: "z" },
  );
  assert.deepEqual(await db.page.delete({ where: { tenant_slug: B } }), pageOf({ id: 2, ...B }));
  await assert.rejects(
    db.page.delete({ where: { tenant_slug: B } }),
    dbError("RowNotFound", "Cannot delete pages: there is no such row"),
  );
});

testPages("a key of several columns is unique", async (db) => {
  await db.page.createMany({ data: [A, B] });
  const taken = (verb: string) =>
    dbError(
      "UniqueViolation",
      `Cannot ${verb} pages: the value of tenant, slug is already taken`,
      ["tenant", "slug"],
    );
  await assert.rejects(db.page.create({ data: A }), taken("create"));
  await assert.rejects(
    db.page.update({ where: { tenant_slug: A }, data: { slug: "b" } }),
    taken("update"),
  );
  // Rows with null in a column are not compared.
  await db.page.createMany({ data: [{ tenant: "v", slug: "a" }, { tenant: "w", slug: "a" }] });
  const rows = [A, { tenant: "t", slug: "c" }, B, { tenant: "u", slug: "b" }];
  assert.equal(await db.page.createMany({ data: rows, skipDuplicates: true }), 2);
});

testPages("upsert() takes a key of several columns", async (db) => {
  const upsert = (slug: string, title: string) =>
    db.page.upsert({
      where: { tenant_slug: { tenant: "t", slug } },
      create: { title },
      update: { title },
    });
  const one = await upsert("a", "new");
  assert.deepEqual(one, { ...pageOf({ id: one.id, ...A }), title: "new" });
  assert.deepEqual(await upsert("a", "old"), { ...one, title: "old" });
  const both = await Promise.all([upsert("b", "1"), upsert("b", "2"), upsert("b", "3")]);
  assert.equal(new Set(both.map(({ id }) => id)).size, 1);
  assert.equal(await db.page.count(), 2);
  await assert.rejects(
    db.page.upsert({
      where: { tenant_slug: A },
      create: { tenant: "u" },
      update: {},
    }),
    mistake("Cannot upsert pages: create has another tenant than where"),
  );
  await assert.rejects(
    db.page.upsert({ where: { tenant_slug: A, id: 1 }, create: {}, update: {} }),
    mistake("Cannot upsert pages: where has more than one column"),
  );
});

testPages("upsertMany() takes a key of several columns", async (db) => {
  await db.page.createMany({ data: [A] });
  const create = [{ ...A, title: "1" }, { ...B, title: "2" }, { tenant: "u", slug: "a" }];
  assert.equal(await db.page.upsertMany({ by: "tenant_slug", create, update: ["title"] }), 3);
  assert.deepEqual(
    await db.page.findMany({
      select: { tenant: true, slug: true, title: true },
      orderBy: [{ tenant: "asc" }, { slug: "asc" }],
    }),
    create.map((row) => ({ title: "", ...row })),
  );
  await assert.rejects(
    db.page.upsertMany({ by: "tenant_slug", create: [A, B, A], update: ["title"] }),
    dbError(
      "UniqueViolation",
      "Cannot upsert pages: create has a value of tenant, slug twice",
      ["tenant", "slug"],
    ),
  );
  await assert.rejects(
    db.page.upsertMany({
      by: "site_id_slug_lang",
      create: [{ tenant: "x", slug: "y" }],
      update: ["title"],
    }),
    dbError("NotNullViolation", "Cannot upsert pages: the value of site_id is missing", [
      "site_id",
    ]),
  );
  const tenant = db.page.scoped({ tenant: "other" });
  await assert.rejects(
    tenant.upsertMany({
      by: "site_id_slug_lang",
      create: [{ site_id: 1, slug: "y" }],
      update: ["title"],
    }),
    { code: "ForeignKeyViolation" },
  );
});

testPages("upsertMany() updates no row that has another key", async (db) => {
  const { id: site_id } = await db.site.create({ data: { host: "h" } });
  await db.page.create({ data: { ...A, site_id } });
  await assert.rejects(
    db.page.upsertMany({
      by: "tenant_slug",
      create: [{ ...A, tenant: "u", site_id, title: "new" }],
      update: ["title"],
    }),
    dbError(
      "UniqueViolation",
      "Cannot upsert pages: the value of site_id, slug, lang is already taken",
      ["site_id", "slug", "lang"],
    ),
  );
  assert.equal(await db.page.count({ where: { title: "new" } }), 0);
});

testPages("a scope holds for keys of several columns", async (db) => {
  await db.page.createMany({ data: [A, { tenant: "u", slug: "a" }] });
  const mine = db.page.scoped({ tenant: "t" });
  const other = { tenant_slug: { tenant: "u", slug: "a" } };
  assert.equal(await mine.findUnique({ where: other }), null);
  assert.equal((await mine.findUnique({ where: { tenant_slug: A } }))?.tenant, "t");
  await assert.rejects(
    mine.update({ where: other, data: { title: "x" } }),
    { code: "RowNotFound" },
  );
  await assert.rejects(mine.delete({ where: other }), { code: "RowNotFound" });
  await assert.rejects(
    mine.upsert({ where: other, create: {}, update: { title: "x" } }),
    mistake("Cannot upsert pages: where has another tenant than the scope"),
  );
  const made = await mine.upsert({
    where: { tenant_slug: B },
    create: { title: "made" },
    update: {},
  });
  assert.deepEqual([made.tenant, made.slug, made.title], ["t", "b", "made"]);
  const changed = await mine.upsert({
    where: { tenant_slug: B },
    create: {},
    update: { title: "changed" },
  });
  assert.deepEqual(changed, { ...made, title: "changed" });
  assert.equal(await db.page.count({ where: { title: "x" } }), 0);
});

testPages("nested writes take keys of several columns", async (db) => {
  await db.page.createMany({ data: [A, B] });
  const site = await db.site.create({
    data: {
      host: "h",
      pages: {
        connect: [{ tenant_slug: A }],
        connectOrCreate: [
          { where: { tenant_slug: B }, create: { tenant: "t", slug: "b" } },
          {
            where: { tenant_slug: { tenant: "t", slug: "c" } },
            create: { tenant: "t", slug: "c" },
          },
        ],
      },
    },
  });
  const slugs = async () =>
    (await db.page.findMany({ where: { site_id: site.id }, orderBy: { slug: "asc" } }))
      .map(({ slug }) => slug);
  assert.deepEqual(await slugs(), ["a", "b", "c"]);
  // The relation sets a column of the key, too.
  const key = { site_id: site.id, slug: "d", lang: "de" as const };
  const again = {
    where: { id: site.id },
    data: {
      pages: {
        disconnect: [{ tenant_slug: A }],
        connectOrCreate: { where: { site_id_slug_lang: key }, create: { ...key, tenant: "t" } },
      },
    },
  };
  await db.site.update(again);
  await db.site.update(again);
  assert.deepEqual(await slugs(), ["b", "c", "d"]);
  await assert.rejects(
    db.site.create({
      data: { host: "other", pages: { connectOrCreate: again.data.pages.connectOrCreate } },
    }),
    mistake("Cannot create sites: pages.connectOrCreate has another site_id than the relation"),
  );
  await assert.rejects(
    db.site.update({
      where: { id: site.id },
      data: { pages: { connect: { tenant_slug: { tenant: "t", slug: "nope" } } } },
    }),
    dbError("RowNotFound", "Cannot update sites: there is no row that pages.connect names"),
  );
});

testOnEach("a condition has every column of a key", async ({ url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  const wrong: readonly (readonly [object, string])[] = [
    [{ tenant_slug: { tenant: "t" } }, "tenant_slug lacks slug"],
    [{ tenant_slug: { ...A, id: 1 } }, 'tenant_slug has no column "id"'],
    [{ tenant_slug: { ...A, slug: undefined } }, "tenant_slug.slug is undefined"],
    [{ tenant_slug: "t" }, "tenant_slug is not a plain object"],
    [
      { tenant_slug: { tenant: "t", slug: { startsWith: "a" } } },
      "slug takes a string, not object",
    ],
    [{ tenant_slug: { tenant: "t", slug: null } }, "slug takes a string, not null"],
    [
      { tenant_slug: A, site_id_slug_lang: { site_id: 1, slug: "b", lang: "en" } },
      "where has two values of slug",
    ],
    [{ slug: "a" }, "slug is not unique"],
    [{ tenant_id: { tenant: "t" } }, 'there is no column "tenant_id"'],
  ];
  for (const [where, reason] of wrong) {
    await assert.rejects(
      db.page.findUnique({ where: where as { id: 1 } }),
      mistake(`Cannot read pages: ${reason}`),
    );
  }
  // It is no condition on many rows.
  await assert.rejects(
    db.page.findMany({ where: { tenant_slug: A } as object }),
    mistake('Cannot read pages: there is no column "tenant_slug"'),
  );
});

testOnEach("checkTables() reports keys and indexes that are missing", async ({ brand, url }) => {
  await using db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.createTables();
  await db.checkTables();
  const fields = {
    id: field.integer().primaryKey(),
    tenant: field.text().map("tenant_name"),
    slug: field.text(),
    lang: field.text(),
    title: field.text(),
  };
  const check = async <M extends Model<"pages", typeof fields>>(other: M) => {
    await using service = await DbService.with({ other }).open(DbOptions.fromUrl(url));
    await service.checkTables();
  };
  // The order of unique columns is insignificant, that of an index is not.
  await check(model("pages", fields, { unique: [["slug", "tenant"]], index: ["tenant", "title"] }));
  await assert.rejects(
    check(
      model("pages", fields, {
        unique: [["tenant", "lang"], ["slug", "lang"]],
        index: ["lang", ["title", "tenant"]],
      }),
    ),
    dbError(
      "Database",
      [
        "Cannot use tables: they differ from the models in 4 places",
        "pages: (tenant, lang) is not unique, the model's is",
        "pages: (slug, lang) is not unique, the model's is",
        "pages: there is no index on (lang), the model has one",
        "pages: there is no index on (title, tenant), the model has one",
      ].join("\n  "),
    ),
  );
  if (brand !== "postgres") return;
  await sql`alter table pages add unique (slug, title) deferrable`.execute(db.kysely);
  await assert.rejects(
    check(model("pages", fields, { unique: [["slug", "title"]] })),
    { message: /\n {2}pages: \(slug, title\) is unique, but deferrable$/ },
  );
});

test("model() rejects invalid keys and indexes", () => {
  const fields = {
    id: field.integer().primaryKey(),
    a: field.text(),
    b: field.text(),
    a_b: field.json(),
    gone: field.deletedAt(),
  };
  const wrong: readonly (readonly [object, string])[] = [
    [{ unique: "a" }, "unique is not a list"],
    [{ unique: [["a"]] }, "unique has no list of two columns or more"],
    [{ unique: ["a"] }, "unique has no list of two columns or more"],
    [{ unique: [["a", "c"]] }, 'unique has no column "c"'],
    [{ unique: [["a", "toString"]] }, 'unique has no column "toString"'],
    [{ unique: [["a", "a"]] }, "unique has a twice"],
    [{ unique: [["a", "a_b"]] }, "unique has a_b, which is json"],
    [{ unique: [["a", "gone"]] }, "unique has gone, which marks rows"],
    [{ unique: [["a", "b"]] }, "a_b is a key and a column"],
    [{ unique: [["id", "a"], ["id", "a"]] }, "two keys have the name id_a"],
    [{ index: [[]] }, "index has no column"],
    [{ index: ["c"] }, 'index has no column "c"'],
    [{ index: ["a_b"] }, "index has a_b, which is json"],
    [{ index: [["a", "b", "a"]] }, "index has a twice"],
  ];
  for (const [options, reason] of wrong) {
    assert.throws(() => model("t", fields, options), {
      name: "TypeError",
      message: `Cannot define t: ${reason}`,
    });
  }
});
