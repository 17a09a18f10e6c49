import assert from "node:assert/strict";
import fc from "fast-check";
import { DbOptions } from "../../../src/db/mod.ts";
import { testOnEach } from "../support/database.ts";
import { Graph, type Kind } from "../support/graph.ts";
import { type Query, query, rows } from "./arbitrary_graph.ts";
import type { Row } from "./memory_condition.ts";
import { MemoryGraph, type Rows } from "./memory_graph.ts";

/** How many sets of rows are tried on each database, and how many queries of each. */
const RUNS = 40;
const QUERIES = 12;

/** The models in the order of their references. */
const KINDS: readonly Kind[] = ["owner", "card", "node", "link"];

testOnEach("Repository finds by related rows what lists in memory would", async ({ url }) => {
  await using db = await Graph.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.array(query, { minLength: QUERIES, maxLength: QUERIES }),
      async (rows, queries) => {
        await fill(db, rows);
        for (const query of queries) await runBoth(db, rows, query);
      },
    ),
    { numRuns: RUNS },
  );
});

/** The operations of the repositories that the test uses; options are those of any of them. */
interface AnyRepository {
  scoped(scope: object): AnyRepository;
  createMany(options: object): Promise<number>;
  findMany(options: object): Promise<Row[]>;
  count(options: object): Promise<number>;
  updateMany(options: object): Promise<number>;
  deleteMany(options: object): Promise<number>;
}

class RollBack extends Error {}

async function fill(db: Graph, rows: Rows): Promise<void> {
  // MySQL deletes no parent before its children.
  await db.node.updateMany({ all: true, data: { parent_id: null } });
  for (const kind of KINDS.toReversed()) await repository(db, kind).deleteMany({ all: true });
  for (const kind of KINDS) {
    if (rows[kind].length > 0) await repository(db, kind).createMany({ data: rows[kind] });
  }
}

async function runBoth(db: Graph, rows: Rows, query: Query): Promise<void> {
  const { kind, scope, where, include: { relations, counts }, ...page } = query;
  const all = repository(db, kind);
  const own = Object.keys(scope).length > 0 ? all.scoped(scope) : all;
  const memory = new MemoryGraph(rows, scope);
  const _count = Object.keys(counts).length > 0 ? { _count: counts } : {};
  const found = await own.findMany({ where, ...page, include: { ...relations, ..._count } });
  assert.deepEqual(found, memory.find(query));
  const ids = memory.where(kind, where).map(({ id }) => id);
  assert.equal(await own.count({ where }), ids.length);
  // A condition that holds for every row is refused, unless the rows decide that.
  const naming = { AND: [where, { id: { not: 5000 } }] };
  const isDeleted = kind === "link";
  try {
    await db.transaction(async () => {
      const count = isDeleted
        ? await own.deleteMany({ where: naming })
        : await own.updateMany({ where: naming, data: { name: "written" } });
      const left = await all.findMany({ orderBy: { id: "asc" } });
      const written = isDeleted
        ? rows.link.filter(({ id }) => !left.some((row) => row.id === id))
        : left.filter(({ name }) => name === "written");
      assert.deepEqual([count, written.map(({ id }) => id)], [ids.length, ids]);
      throw new RollBack();
    });
  } catch (error) {
    if (!(error instanceof RollBack)) throw error;
  }
}

function repository(db: Graph, kind: Kind): AnyRepository {
  // Conditions and data are random, and fit their models.
  return db[kind] as unknown as AnyRepository;
}
