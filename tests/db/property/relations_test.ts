import assert from "node:assert/strict";
import fc from "fast-check";
import { DbOptions } from "../../../src/db/mod.ts";
import { casesOf, testOnce } from "../../support/test.ts";
import { type TestDatabase, testOnEach } from "../support/database.ts";
import {
  COMPOSITE_KEYS,
  Graph,
  KeyedGraph,
  type Kind,
  PRIMARY_KEYS,
  type PrimaryKeys,
} from "../support/graph.ts";
import { type Query, query, rows } from "./arbitrary_graph.ts";
import type { Row } from "./memory_condition.ts";
import { MemoryGraph, type Rows } from "./memory_graph.ts";

/** A service, and what the keys of its rows are. */
interface Subject {
  readonly Service: typeof Graph;
  readonly keys: PrimaryKeys;
}

const PLAIN: Subject = { Service: Graph, keys: PRIMARY_KEYS };
// By type, the keys of rows are others.
const KEYED = { Service: KeyedGraph, keys: COMPOSITE_KEYS } as unknown as Subject;

/** How many sets of rows are tried: on each runtime, and all together once more. */
const RUNS = 8;
const MANY_RUNS = casesOf(220, 20);
/** How many queries of each set. */
const QUERIES = 12;

/** The models in the order of their references. */
const KINDS: readonly Kind[] = ["owner", "card", "node", "link"];

for (const [claim, subject] of [["", PLAIN], [", with keys of several columns", KEYED]] as const) {
  testOnEach(
    `Repository finds by related rows what lists in memory would${claim}`,
    (database) => tryRuns(subject, database, RUNS),
    { slow: claim === "" ? [] : ["postgres", "mysql"] },
  );
  testOnEach(
    `Repository finds by related rows what many lists in memory would${claim}`,
    (database) => tryRuns(subject, database, MANY_RUNS),
    { slow: true, register: testOnce },
  );
}

async function tryRuns(
  { Service, keys }: Subject,
  { url }: TestDatabase,
  numRuns: number,
): Promise<void> {
  await using db = await Service.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.array(query, { minLength: QUERIES, maxLength: QUERIES }),
      async (rows, queries) => {
        await fill(db, rows);
        for (const query of queries) await runBoth({ db, rows, keys }, query);
      },
    ),
    { numRuns },
  );
}

/** The database, and what it contains. */
interface Filled {
  readonly db: Graph;
  readonly rows: Rows;
  readonly keys: PrimaryKeys;
}

/** The operations of the repositories that the test uses; options are those of any of them. */
interface AnyRepository {
  withDeleted(): AnyRepository;
  scoped(scope: object): AnyRepository;
  createMany(options: object): Promise<number>;
  findMany(options: object): Promise<Row[]>;
  stream(options: object): AsyncIterable<Row>;
  count(options: object): Promise<number>;
  aggregate(options: object): Promise<Row>;
  groupBy(options: object): Promise<Row[]>;
  updateMany(options: object): Promise<number>;
  updateManyAndReturn(options: object): Promise<Row[]>;
  deleteMany(options: object): Promise<number>;
  purgeMany(options: object): Promise<number>;
}

class RollBack extends Error {}

async function fill(db: Graph, rows: Rows): Promise<void> {
  // MySQL deletes no parent before its children.
  await db.node.withDeleted().updateMany({ all: true, data: { parent_id: null } });
  const all = (kind: Kind) => repository(db, kind).withDeleted();
  for (const kind of KINDS.toReversed()) await all(kind).purgeMany({ all: true });
  for (const kind of KINDS) {
    if (rows[kind].length > 0) await all(kind).createMany({ data: rows[kind] });
  }
}

async function runBoth({ db, rows, keys }: Filled, query: Query): Promise<void> {
  const { kind, scope, withDeleted, where, include: { relations, counts }, ...page } = query;
  const all = repository(db, kind).withDeleted();
  const seen = withDeleted ? all : repository(db, kind);
  const own = Object.keys(scope).length > 0 ? seen.scoped(scope) : seen;
  const visible = { ...scope, ...!withDeleted && { gone: null } };
  const memory = new MemoryGraph(rows, { scope: visible, keys });
  const _count = Object.keys(counts).length > 0 ? { _count: counts } : {};
  const include = { ...relations, ..._count };
  assert.deepEqual(await own.findMany({ where, ...page, include }), memory.find(query));
  const { distinct: _, ...bounds } = page;
  const orderBy = page.orderBy.filter((term) => {
    const [by] = Object.values(term);
    return typeof by === "string" || "sort" in by;
  });
  assert.deepEqual(
    await Array.fromAsync(own.stream({ where, ...bounds, orderBy, include, batchSize: 2 })),
    memory.find({ ...query, orderBy, distinct: [] }),
  );
  const met = memory.where(kind, where);
  const ids = met.map(({ id }) => id);
  assert.equal(await own.count({ where }), ids.length);
  assert.deepEqual(await own.aggregate({ where, ...VALUES }), valuesOf(met));
  const groups = await own.groupBy({ by: ["flag"], where, ...VALUES, ...GROUPS });
  const flags = [false, true].map((flag) =>
    [flag, met.filter((row) => row.flag === flag)] as const
  );
  assert.deepEqual(
    groups,
    flags.filter(([, { length }]) => length > 1)
      .map(([flag, rows]) => ({ flag, ...valuesOf(rows) })),
  );
  // A condition that holds for every row is refused, unless the rows decide that.
  const naming = { AND: [where, { id: { not: 5000 } }] };
  const isDeleted = kind === "link";
  const isReturned = page.take % 2 === 0;
  const data = { name: "written" };
  try {
    await db.transaction(async () => {
      const live = met.filter(({ gone }) => gone === null).map(({ id }) => id);
      const count = isDeleted
        ? isReturned
          ? await own.purgeMany({ where: naming })
          : await own.deleteMany({ where: naming })
        : isReturned
        ? (await own.updateManyAndReturn({ where: naming, data })).length
        : await own.updateMany({ where: naming, data });
      const left = await all.findMany({ orderBy: { id: "asc" } });
      const written = !isDeleted
        ? left.filter(({ name }) => name === "written")
        : isReturned
        ? rows.link.filter(({ id }) => !left.some((row) => row.id === id))
        : left.filter(({ gone }) => gone !== null && Number(gone) !== 0);
      const expected = isDeleted && !isReturned ? live : ids;
      assert.deepEqual([count, written.map(({ id }) => id)], [expected.length, expected]);
      throw new RollBack();
    });
  } catch (error) {
    if (!(error instanceof RollBack)) throw error;
  }
}

/** The aggregates of rows, and which groups of them. */
const VALUES = { _count: true, _max: { id: true } };
const GROUPS = { having: { id: { _count: { gt: 1 } } }, orderBy: { flag: "asc" } };

function valuesOf(rows: readonly Row[]): object {
  const ids = rows.map(({ id }) => Number(id));
  return { _count: rows.length, _max: { id: ids.length > 0 ? Math.max(...ids) : null } };
}

function repository(db: Graph, kind: Kind): AnyRepository {
  // Conditions and data are random, and fit their models.
  return db[kind] as unknown as AnyRepository;
}
