import assert from "node:assert/strict";
import fc from "fast-check";
import { DbOptions, DbService, field, model } from "../../../src/db/mod.ts";
import { testOnce } from "../../support/test.ts";
import { testOnEach } from "../support/database.ts";
import { day, number, text, time } from "./arbitrary_things.ts";

/** How many walks are tried on each database. */
const RUNS = 40;
const MANY_RUNS = 400;

const Entry = model("entries", {
  tenant: field.integer(),
  number: field.integer(),
  name: field.text().map("label"),
  nick: field.text().nullable(),
  rank: field.integer().nullable().map("name"),
  big: field.bigint(),
  price: field.decimal({ precision: 12, scale: 2 }).nullable(),
  flag: field.boolean(),
  mood: field.enum(["sad", "Happy", "á"]).nullable(),
  at: field.timestamp(),
  day: field.date().nullable(),
}, {
  primaryKey: ["tenant", "number"],
  index: [["tenant", "rank"], ["tenant", "flag", "at"]],
});
class Entries extends DbService.with({ entry: Entry }) {}

const TENANT = 1;
const COLUMNS = ["name", "nick", "rank", "big", "price", "flag", "mood", "at", "day"] as const;

/** A row of one of two tenants, whose keys are the same. */
const row = fc.record({
  tenant: fc.constantFrom(TENANT, TENANT, 2),
  number: fc.integer({ min: 1, max: 40 }),
  name: text,
  nick: fc.option(text),
  rank: fc.option(number),
  big: fc.constantFrom(-1n, 0n, 2n ** 63n - 1n, 9_007_199_254_740_993n),
  price: fc.option(fc.constantFrom("0", "-1.50", "10", "9.99")),
  flag: fc.boolean(),
  mood: fc.option(fc.constantFrom("sad" as const, "Happy" as const, "á" as const)),
  at: time,
  day: fc.option(day),
});

const direction = fc.constantFrom("asc" as const, "desc" as const);
const term = fc.oneof(
  fc.record({ column: fc.constantFrom(...COLUMNS, "number" as const), direction })
    .map(({ column, direction }) => ({ [column]: direction })),
  fc.record({ column: fc.constantFrom("name" as const, "nick" as const), direction })
    .map(({ column, direction }) => ({ [column]: { sort: direction, mode: "insensitive" } })),
);

const where = fc.constantFrom<Query["where"]>(
  {},
  {},
  { flag: true },
  { rank: { gte: 0 } },
  { OR: [{ nick: null }, { number: { lte: 20 } }] },
);

/** What happens between two pages. */
const change = fc.record({
  created: fc.array(row, { maxLength: 3 }),
  deleted: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }),
});

const walk = fc.record({
  rows: fc.array(row, { maxLength: 40 }),
  orderBy: fc.array(term, { maxLength: 3 }),
  where,
  take: fc.integer({ min: 1, max: 9 }),
  changes: fc.array(change, { maxLength: 10 }),
  withTotal: fc.boolean(),
});

type Query = Parameters<Entries["entry"]["page"]>[0];
type Walk = typeof walk extends fc.Arbitrary<infer W> ? W : never;

testOnEach("pages visit each row that stays once, in order", async ({ url }) => {
  await tryWalks(url, RUNS);
});

testOnEach("pages visit each row that stays once, in order, in many walks", async ({ url }) => {
  await tryWalks(url, MANY_RUNS);
}, { slow: true, register: testOnce });

async function tryWalks(url: string, numRuns: number): Promise<void> {
  await using db = await Entries.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fc.assert(fc.asyncProperty(walk, (walk) => tryWalk(db, walk)), { numRuns });
}

async function tryWalk(db: Entries, { rows, changes, take, withTotal, ...walk }: Walk) {
  await db.entry.deleteMany({ all: true });
  await db.entry.createMany({ data: rows, skipDuplicates: true });
  const own = db.entry.scoped({ tenant: TENANT });
  // Built of columns and directions that exist.
  const query = { where: walk.where!, orderBy: walk.orderBy as Query["orderBy"] };
  const keys = ({ number }: { readonly number: number }) => number;
  const before = new Set((await own.findMany()).map(keys));
  const touched = new Set<number>();
  const visited: number[] = [];
  const left = [...changes];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof own.page>> = await own.page({
      ...query,
      take,
      cursor,
      withTotal,
    });
    assert.ok(page.rows.length <= take);
    assert.ok(page.next === null || page.rows.length === take);
    if (withTotal) assert.equal(page.total, await own.count({ where: query.where }));
    visited.push(...page.rows.map(keys));
    cursor = page.next;
    const { created = [], deleted = [] } = left.shift() ?? {};
    if (deleted.length > 0) await db.entry.deleteMany({ where: { number: { in: deleted } } });
    const { length } = created;
    if (length > 0) await db.entry.createMany({ data: created, skipDuplicates: true });
    for (const number of [...deleted, ...created.map(keys)]) touched.add(number);
  } while (cursor !== null);
  const stays = (number: number) => before.has(number) && !touched.has(number);
  const last = await own.page({ ...query, take: 100 });
  assert.deepEqual(visited.filter(stays), last.rows.map(keys).filter(stays));
}
