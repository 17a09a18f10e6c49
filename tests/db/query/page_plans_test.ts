import assert from "node:assert/strict";
import { sql } from "kysely";
import { DbService, field, model } from "../../../src/db/mod.ts";
import { type Brand, testOnEach } from "../support/database.ts";
import { type Noted, openNoted } from "../support/noted.ts";
import { planOf } from "../support/plans.ts";

const ROWS = 40_000;
/** The values of `created_at` repeat for so many rows. */
const TIES = 400;
const TAKEN = 20;

const Post = model("posts", {
  id: field.integer().primaryKey(),
  tenant: field.integer(),
  title: field.text({ max: 100 }),
  created_at: field.timestamp(),
}, { index: [["created_at", "id"], ["title", "id"], ["tenant", "created_at", "id"]] });
class Blog extends DbService.with({ post: Post }) {}

async function fill({ post }: Blog): Promise<void> {
  await post.createMany({
    data: Array.from({ length: ROWS }, (_, n) => ({
      tenant: n % 400,
      title: `Title ${n * 7919 % ROWS}`,
      created_at: new Date(Date.UTC(2026, 0, 1) + Math.floor(n / TIES) * 1000),
    })),
  });
}

type Query = Omit<Parameters<Blog["post"]["page"]>[0], "take">;

const QUERIES: readonly Query[] = [
  {},
  { orderBy: { id: "desc" } },
  { orderBy: { title: "asc" } },
  { orderBy: { created_at: "asc" } },
  { orderBy: { created_at: "desc" } },
  { orderBy: [{ created_at: "desc" }, { id: "desc" }], where: { tenant: 7 } },
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
  for (const query of QUERIES) {
    const count = await db.post.count(query.where ? { where: query.where } : {});
    const { next } = await db.post.page({ ...query, take: count / 2 + 3 });
    notes.take();
    const { rows } = await db.post.page({ ...query, take: TAKEN, cursor: next });
    const [[text, ...values]] = notes.take() as [Noted];
    const { rows: expected } = await db.post.page({ ...query, take: TAKEN, skip: count / 2 + 3 });
    assert.deepEqual(rows, expected);
    const plan = await planOf(db.kysely, brand, [
      brand === "postgres" ? `analyze ${text}` : text,
      ...values,
    ]);
    assert.doesNotMatch(plan, WHOLE[brand], plan);
    // A comparison of rows skips those with the same first value, too.
    if (brand === "postgres") assert.ok(Math.max(...rowsIn(plan)) <= TAKEN + 1, plan);
  }
});
