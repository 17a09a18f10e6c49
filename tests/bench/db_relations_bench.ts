/**
 * Pages of articles by related rows, as the RealWorld API reads them, on each database: 100 000
 * articles, one tag that all of them have, rare tags, and authors and favorites of 1000 users.
 *
 * @module
 */
import { sql } from "kysely";
import { DbOptions } from "../../src/db/mod.ts";
import { Articles } from "../db/support/articles.ts";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { compare, printMachine } from "./compare.ts";

const ARTICLES = 100_000;
const USERS = 1000;
const PAGE = 20;

printMachine(["kysely", "postgres", "mysql2"]);
await bench("SQLite", "sqlite::memory:");
for (const brand of ["postgres", "mysql"] as const) {
  if (SERVERS[brand].skip) {
    console.log(`${brand}: ${SERVERS[brand].skip}`);
    continue;
  }
  await using database = await createDatabase(brand);
  await bench(brand === "postgres" ? "PostgreSQL" : "MySQL", database.url);
}

async function bench(name: string, url: string): Promise<void> {
  await using db = await Articles.open(DbOptions.fromUrl(url));
  await fill(db, name === "MySQL");
  const newest = { orderBy: { id: "desc" }, take: PAGE } as const;
  const tagged = (name: string) =>
    db.article.findMany({ where: { tags: { some: { name } } }, ...newest });
  const counted = (name: string) => db.article.count({ where: { tags: { some: { name } } } });
  await compare({
    title: `${name}: the newest ${PAGE} of ${ARTICLES} articles`,
    peers: [
      { name: "of all", run: () => db.article.findMany(newest) },
      { name: "of a tag of all", run: () => tagged("all") },
      { name: "of a rare tag", run: () => tagged("t5") },
      { name: "of an unknown tag", run: () => tagged("none") },
      {
        name: "of an author",
        run: () => db.article.findMany({ where: { author: { name: "u5" } }, ...newest }),
      },
      {
        name: "favorited by a user",
        run: () => db.article.findMany({ where: { fans: { some: { name: "u5" } } }, ...newest }),
      },
      {
        name: "of two tags and an author",
        run: () =>
          db.article.findMany({
            where: {
              AND: [{ tags: { some: { name: "all" } } }, { tags: { some: { name: "t5" } } }],
              author: { name: { startsWith: "u" } },
            },
            ...newest,
          }),
      },
      {
        name: "of a rare tag, by title",
        run: () =>
          db.article.findMany({
            where: { tags: { some: { name: "t5" } } },
            orderBy: { title: "asc" },
            take: PAGE,
          }),
      },
      { name: "count of a tag of all", run: () => counted("all") },
      { name: "count of a rare tag", run: () => counted("t5") },
      {
        name: "of all, with counts of favorites",
        run: () => db.article.findMany({ ...newest, include: { _count: { favorites: true } } }),
      },
    ],
    rounds: 11,
  });
}

async function fill(db: Articles, isMysql: boolean): Promise<void> {
  const rows = <T>(length: number, row: (n: number) => T) =>
    Array.from({ length }, (_, index) => row(index));
  await db.createTables();
  await db.user.createMany({ data: rows(USERS, (n) => ({ name: `u${n}` })) });
  await db.tag.createMany({ data: [{ name: "all" }, ...rows(100, (n) => ({ name: `t${n}` }))] });
  await db.article.createMany({
    data: rows(ARTICLES, (n) => ({ author_id: 1 + n * 7919 % USERS, title: `Article ${n}` })),
  });
  await db.articleTag.createMany({
    data: [
      ...rows(ARTICLES, (n) => ({ article_id: n + 1, tag_id: 1 })),
      ...rows(ARTICLES / 100, (n) => ({ article_id: 1 + n * 50, tag_id: 2 + n % 100 })),
    ],
  });
  await db.favorite.createMany({
    data: rows(ARTICLES, (n) => ({ article_id: 1 + n * n % ARTICLES, user_id: 1 + n * 7 % USERS })),
  });
  const tables = sql.raw("articles, users, tags, article_tags, favorites");
  await (isMysql ? sql`analyze table ${tables}` : sql`analyze`).execute(db.kysely);
}
