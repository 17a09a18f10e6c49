import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../support/database.ts";
import { type Noted, openNoted } from "../support/noted.ts";
import { planOf } from "../support/plans.ts";

const ROWS = 20_000;
/** The values of `created_at` repeat for so many rows. */
const TIES = 400;
const TAKEN = 20;

const Author = model("authors", { id: field.integer().primaryKey(), name: field.text() });
const Post = model("posts", {
  id: field.integer().primaryKey(),
  author_id: field.integer().references(Author),
  tenant: field.integer(),
  area: field.text({ max: 10 }),
  status: field.enum(["draft", "public"]),
  title: field.text({ max: 100 }),
  created_at: field.timestamp(),
}, {
  index: [
    ["created_at", "id"],
    ["title", "id"],
    ["tenant", "created_at", "id"],
    ["status", "created_at", "id"],
    ["area", "status", "created_at", "id"],
    ["area"],
  ],
});
class Blog extends DbService.with({ author: Author, post: Post }) {}

async function fill({ author, post }: Blog): Promise<void> {
  await author.createMany({ data: [{ id: 1, name: "Ada" }, { id: 2, name: "Bob" }] });
  await post.createMany({
    data: Array.from({ length: ROWS }, (_, n) => ({
      author_id: 1 + n % 2,
      tenant: n % 200,
      area: n % 5 === 0 ? "north" : "south",
      status: n % 3 === 0 ? "draft" as const : "public" as const,
      title: `Title ${n * 7919 % ROWS}`,
      created_at: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / TIES) * 1000),
    })),
  });
}

type Query = Omit<Parameters<Blog["post"]["page"]>[0], "take">;

/** A page, in an area or in all of them. */
type Reading = Query & { readonly area?: string };

const READINGS: readonly Reading[] = [
  {},
  { orderBy: { id: "desc" } },
  { orderBy: { title: "asc" } },
  { orderBy: { created_at: "asc" } },
  { orderBy: { created_at: "desc" } },
  { orderBy: [{ created_at: "desc" }, { id: "desc" }], where: { tenant: 7 } },
  { orderBy: { created_at: "asc" }, where: { status: "public" } },
  { orderBy: { created_at: "desc" }, where: { AND: [{ status: { equals: "public" } }] } },
  { orderBy: { created_at: "asc" }, where: { status: "public" }, area: "south" },
  { area: "south" },
  { where: { author_id: 2 } },
  { orderBy: { id: "desc" }, area: "south" },
  { orderBy: [{ tenant: "asc" }, { created_at: "desc" }], where: { tenant: 7 } },
];

/** What reads a table as a whole, or sorts rows. */
const WHOLE: Readonly<Record<Brand, RegExp>> = {
  sqlite: /SCAN|TEMP B-TREE/,
  postgres: /Seq Scan|Sort /,
  mysql: /"type":"(?:ALL|index)"|filesort/,
};

/** Returns how many rows each step of an analyzed plan of PostgreSQL has read. */
function rowsIn(plan: string): readonly number[] {
  const steps = plan.matchAll(/actual [^)]*rows=([\d.]+) loops=(\d+)|Rows Removed[^:]*: (\d+)/g);
  return Array.from(
    steps,
    ([, rows = 1, loops = 1, removed = 0]) => Number(rows) * Number(loops) + Number(removed),
  );
}

testOnEach("pages begin at their cursors by an index", async (database) => {
  const { brand } = database;
  await using noted = await openNoted(Blog, database);
  const { db, notes } = noted;
  await db.createTables();
  await fill(db);
  await (brand === "mysql" ? sql`analyze table posts` : sql`analyze`).execute(db.kysely);
  for (const { area, ...query } of READINGS) {
    const post = area === undefined ? db.post : db.post.scoped({ area });
    const skip = Math.floor(await post.count(query.where ? { where: query.where } : {}) / 2) + 3;
    const { next } = await post.page({ ...query, take: skip });
    notes.take();
    const { rows } = await post.page({ ...query, take: TAKEN, cursor: next });
    const [[text, ...values]] = notes.take() as [Noted];
    const { rows: expected } = await post.page({ ...query, take: TAKEN, skip });
    assert.deepEqual(rows, expected);
    const plan = await planOf(db.kysely, brand, [
      brand === "postgres" ? `analyze ${text}` : text,
      ...values,
    ]);
    assert.doesNotMatch(plan, WHOLE[brand], plan);
    // A comparison of rows skips those with the same first value, too.
    if (brand === "postgres") assert.ok(Math.max(...rowsIn(plan)) < TIES / 4, plan);
    // An index of SQLite ends with the row's number, which is the key.
    if (brand === "sqlite") assert.match(plan, /rowid[)<>]/, plan);
    // Equal values alone would find all rows before the page, too.
    if (brand === "mysql") assert.doesNotMatch(plan, /"type":"ref"/, plan);
  }
}, { slow: ["mysql"] });
