import assert from "node:assert/strict";
import { sql } from "kysely";
import { testOnce } from "../../support/test.ts";
import { Articles } from "../support/articles.ts";
import { type Brand, testOnEach } from "../support/database.ts";
import { type Noted, openNoted } from "../support/noted.ts";
import { planOf } from "../support/plans.ts";

const ARTICLES = 100_000;

/** Every article has the tag `all`, each hundredth one another, and each a fan. */
async function fill({ user, article, tag, articleTag, favorite }: Articles): Promise<void> {
  const range = (length: number) => Array.from({ length }, (_, index) => index);
  await user.createMany({ data: range(1000).map((n) => ({ name: `u${n}` })) });
  await tag.createMany({ data: [{ name: "all" }, ...range(100).map((n) => ({ name: `t${n}` }))] });
  await article.createMany({ data: range(ARTICLES).map((n) => ({ author_id: 1 + n % 1000 })) });
  await articleTag.createMany({
    data: range(ARTICLES).map((n) => ({ article_id: n + 1, tag_id: 1 })),
  });
  await articleTag.createMany({
    data: range(ARTICLES / 100).map((n) => ({ article_id: 1 + n * 100, tag_id: 2 + n % 100 })),
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
  { where: { AND: [{ tags: { some: { name: "all" } } }, { author: { name: "u5" } }] }, ...NEWEST },
  // No index has this order: few rows are sorted.
  {
    where: { tags: { some: { name: "t5" } } },
    orderBy: [{ title: "asc" }, { id: "asc" }],
    take: 20,
  },
];

/** How many rows a find reads of a table or an index, at most. */
const READ = 3000;

/** What reads a table as a whole. */
const WHOLE: Readonly<Record<Brand, RegExp>> = {
  // The articles in their order, up to the end of the page.
  sqlite: /SCAN (?!articles\nCORRELATED|~found|CONSTANT)/,
  // Of a hundred tags.
  postgres: /Seq Scan on (?!tags)/,
  mysql: /"type":"ALL"/,
};

/** Returns how many rows each step of an analyzed plan of PostgreSQL has read. */
function rowsIn(plan: string): readonly number[] {
  const steps = plan.matchAll(/actual [^)]*rows=(\d+) loops=(\d+)|Rows Removed[^:]*: (\d+)/g);
  return Array.from(
    steps,
    ([, rows = 1, loops = 1, removed = 0]) => Number(rows) * Number(loops) + Number(removed),
  );
}

testOnEach("articles are found by related rows by indexes, from the newest", async (database) => {
  const { brand } = database;
  await using noted = await openNoted(Articles, database);
  const { db, notes } = noted;
  await db.createTables();
  await fill(db);
  const tables = sql.raw("articles, users, tags, article_tags, favorites");
  await (brand === "mysql" ? sql`analyze table ${tables}` : sql`analyze`).execute(db.kysely);
  for (const options of FINDS) {
    notes.take();
    const found = await db.article.findMany(options);
    const statements = notes.take();
    // Those of all articles, without a bound.
    const all = await db.article.findMany({ where: options.where!, orderBy: options.orderBy! });
    assert.deepEqual(found, all.slice(0, 20));
    for (const statement of statements) await checkPlan(statement);
  }
  assert.equal(await count({ tags: { some: { name: "all" } } }), ARTICLES);
  assert.equal(await count({ tags: { none: { name: "t5" } } }), ARTICLES - 10);
  notes.take();
  for (const { where } of FINDS.slice(1)) {
    await db.article.count({ where: where! });
    await db.article.exists({ where: where! });
  }
  for (const statement of notes.take()) await checkPlan(statement);
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

  async function checkPlan([text, ...values]: Noted): Promise<void> {
    if (brand === "postgres") {
      const plan = await planOf(db.kysely, brand, [`analyze ${text}`, ...values]);
      assert.ok(Math.max(...rowsIn(plan)) <= READ, plan);
    } else {
      const plan = await planOf(db.kysely, brand, [text, ...values]);
      assert.doesNotMatch(plan, WHOLE[brand], plan);
    }
  }

  async function count(where: NonNullable<Options["where"]>): Promise<number> {
    return await db.article.count({ where });
  }
}, { slow: true, register: testOnce });
