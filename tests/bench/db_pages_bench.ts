/**
 * Pages by a cursor: the page at row 100 000 of 200 000 beside the first one, by the key, by
 * a column with ties, by text, and with a condition. A page by an offset is beside them.
 *
 * @module
 */
import { sql } from "kysely";
import { DbOptions, DbService, field, model } from "../../src/db/mod.ts";
import { createDatabase, SERVERS } from "../db/support/servers.ts";
import { compare, printMachine } from "./compare.ts";

const ROWS = 200_000;
const ROW = 100_000;
const TAKEN = 20;

const Post = model("posts", {
  id: field.integer().primaryKey(),
  status: field.enum(["draft", "public"]),
  rank: field.integer(),
  title: field.text({ max: 100 }),
  created_at: field.timestamp(),
}, { index: [["created_at", "id"], ["status", "created_at", "id"], ["title", "id"]] });
class Blog extends DbService.with({ post: Post }) {}

type Query = Omit<Parameters<Blog["post"]["page"]>[0], "take">;

const QUERIES: Readonly<Record<string, Query>> = {
  "the key": {},
  "-created_at, of which 10 are equal": { orderBy: { created_at: "desc" } },
  "title, which is text": { orderBy: { title: "asc" } },
  "created_at where status is public": {
    where: { status: "public" },
    orderBy: { created_at: "asc" },
  },
};

printMachine(["kysely", "postgres", "mysql2"]);
await bench("SQLite", "sqlite::memory:");
for (const brand of ["mysql", "postgres"] as const) {
  if (SERVERS[brand].skip) {
    console.log(`${brand}: ${SERVERS[brand].skip}`);
    continue;
  }
  await using database = await createDatabase(brand);
  await bench(brand === "mysql" ? "MySQL" : "PostgreSQL", database.url);
}

async function bench(brand: string, url: string): Promise<void> {
  await using db = await Blog.open(DbOptions.fromUrl(url));
  await db.createTables();
  await db.post.createMany({
    data: Array.from({ length: ROWS }, (_, n) => ({
      status: n % 4 === 0 ? "public" as const : "draft" as const,
      rank: n % 100,
      title: `Title ${n * 7919 % ROWS}`,
      created_at: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / 10) * 1000),
    })),
  });
  if (brand !== "MySQL") await sql`analyze`.execute(db.kysely);
  else await sql`analyze table posts`.execute(db.kysely);
  for (const [name, query] of Object.entries(QUERIES)) {
    const matched = await db.post.count(query.where ? { where: query.where } : {});
    const skipped = Math.min(ROW, matched / 2);
    const { next } = await db.post.page({ ...query, take: skipped });
    await compare({
      title: `${brand}: the page of ${TAKEN} at row ${skipped} by ${name}`,
      peers: [
        {
          name: "page by a cursor",
          run: () => db.post.page({ ...query, take: TAKEN, cursor: next }),
        },
        { name: "the first page", run: () => db.post.page({ ...query, take: TAKEN }) },
        {
          name: "page by an offset",
          run: () => db.post.page({ ...query, take: TAKEN, skip: skipped }),
        },
      ],
      goals: { "the first page": 1.2 },
      rounds: 41,
    });
  }
}
