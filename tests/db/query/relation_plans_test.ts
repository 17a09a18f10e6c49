import assert from "node:assert/strict";
import { sql } from "kysely";
import { belongsTo, DbService, field, hasMany, manyToMany, model } from "../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../support/database.ts";
import { openNoted } from "../support/noted.ts";
import { planOf } from "../support/plans.ts";

const User = model("users", { id: field.integer().primaryKey(), name: field.text().unique() });
const Article = model("articles", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(User),
});
const Tag = model("tags", { name: field.text().primaryKey() });
const ArticleTag = model("article_tags", {
  id: field.integer().primaryKey(),
  article_id: field.integer().references(Article),
  tag: field.text().references(Tag),
});
const Favorite = model("favorites", {
  id: field.integer().primaryKey(),
  article_id: field.integer().references(Article),
  user_id: field.integer().references(User),
});

class Articles extends DbService.with(
  { user: User, article: Article, tag: Tag, articleTag: ArticleTag, favorite: Favorite },
  {
    article: {
      author: belongsTo(Article.author_id),
      tags: manyToMany(ArticleTag.article_id, ArticleTag.tag),
      fans: manyToMany(Favorite.article_id, Favorite.user_id),
      favorites: hasMany(Favorite.article_id),
    },
  },
) {}

const ARTICLES = 100_000;

/** Every article has the tag `all`, each hundredth one another, and each a fan. */
async function fill({ user, article, tag, articleTag, favorite }: Articles): Promise<void> {
  const range = (length: number) => Array.from({ length }, (_, index) => index);
  await user.createMany({ data: range(1000).map((n) => ({ name: `u${n}` })) });
  await tag.createMany({ data: [{ name: "all" }, ...range(100).map((n) => ({ name: `t${n}` }))] });
  await article.createMany({ data: range(ARTICLES).map((n) => ({ author_id: 1 + n % 1000 })) });
  await articleTag.createMany({
    data: range(ARTICLES).map((n) => ({ article_id: n + 1, tag: "all" })),
  });
  await articleTag.createMany({
    data: range(ARTICLES / 100).map((n) => ({ article_id: 1 + n * 100, tag: `t${n % 100}` })),
  });
  await favorite.createMany({
    data: range(ARTICLES).map((n) => ({ article_id: n + 1, user_id: 1 + n * 7 % 1000 })),
  });
}

type Options = NonNullable<Parameters<Articles["article"]["findMany"]>[0]>;
const NEWEST = { orderBy: { id: "desc" }, take: 20 } as const;
const FINDS: readonly Options[] = [
  { where: { tags: { some: { name: "all" } } }, ...NEWEST },
  { where: { tags: { some: { name: "t5" } } }, ...NEWEST },
  { where: { author: { name: "u5" } }, ...NEWEST },
  { where: { fans: { some: { name: "u5" } } }, ...NEWEST },
];

/** What reads a table as a whole, other than articles on SQLite, which reads them in their order. */
const WHOLE: Readonly<Record<Brand, RegExp>> = {
  sqlite: /SCAN (?!articles)|TEMP B-TREE/,
  // Of a hundred tags.
  postgres: /Seq Scan on (?!tags)/,
  mysql: /"type":"ALL"/,
};

/** How the newest articles of a tag that all have are found: from the last one, up to the limit. */
const IN_ORDER: Readonly<Record<Brand, RegExp>> = {
  sqlite:
    /^SCAN articles\n[^]*SEARCH article_tags USING (?:COVERING )?INDEX \S* ?\(article_id=\?\)/,
  postgres: /Limit[^]*Semi Join[^]*Index (?:Only )?Scan Backward using articles_pkey/,
  mysql: /"table":"articles","type":"index","possible_keys":"PRIMARY","key":"PRIMARY"/,
};

testOnEach("articles are found by related rows by indexes, from the newest", async (database) => {
  const { brand } = database;
  await using noted = await openNoted(Articles, database);
  const { db, notes } = noted;
  await db.createTables();
  await fill(db);
  const tables = sql.raw("articles, users, tags, article_tags, favorites");
  await (brand === "mysql" ? sql`analyze table ${tables}` : sql`analyze`).execute(db.kysely);
  for (const [index, options] of FINDS.entries()) {
    const plans = [];
    for (const run of [() => db.article.findMany(options), () => count(options.where!)]) {
      notes.take();
      await run();
      const [statement] = notes.take();
      plans.push(await planOf(db.kysely, brand, statement!));
    }
    const [find, number] = plans as [string, string];
    assert.doesNotMatch(find, WHOLE[brand], find);
    if (index === 0) {
      assert.match(find, IN_ORDER[brand]);
      assert.doesNotMatch(find, /Sort|filesort/);
    } else assert.doesNotMatch(number, WHOLE[brand], number);
  }
  assert.equal(await count({ tags: { some: { name: "all" } } }), ARTICLES);
  assert.equal(await count({ tags: { none: { name: "t5" } } }), ARTICLES - 10);
  notes.take();
  const [newest] = await db.article.findMany({
    ...NEWEST,
    include: { _count: { favorites: true, fans: { where: { name: "u5" } } } },
  });
  assert.deepEqual(newest?._count, { favorites: 1, fans: 0 });
  for (const statement of notes.take().slice(1)) {
    const plan = await planOf(db.kysely, brand, statement);
    assert.doesNotMatch(plan, /SCAN (?!json_each)|Seq Scan on (?!tags)|"type":"ALL"/, plan);
  }

  async function count(where: NonNullable<Options["where"]>): Promise<number> {
    return await db.article.count({ where });
  }
}, { exhaustive: true });
