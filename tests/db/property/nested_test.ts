/** Writes of rows together with related rows, against rows in memory. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { casesOf, testOnce } from "../../support/test.ts";
import { type TestDatabase, testOnEach } from "../support/database.ts";
import {
  type Copies,
  HOUSE,
  KeyedShelf,
  type Kind,
  MirroredKeyedShelf,
  MirroredShelf,
  Shelf,
} from "../support/shelf.ts";
import { type Block, block, type Write } from "./arbitrary_nested.ts";
import { textOf } from "./memory_condition.ts";
import { lineOf, MemoryShelf } from "./memory_nested.ts";
import { Refusal } from "./memory_repository.ts";

/** A service, and whether its rows have keys of several columns. */
interface Subject {
  readonly Service: typeof Shelf;
  readonly isKeyed: boolean;
}

// By type, the keys of rows are others.
const SHELVES = [
  ["as rows in memory would be", { Service: Shelf, isKeyed: false }],
  ["with hooks, which miss no row", { Service: MirroredShelf, isKeyed: false }],
  ["with keys of several columns", { Service: KeyedShelf, isKeyed: true }],
  ["with hooks and keys of several columns", { Service: MirroredKeyedShelf, isKeyed: true }],
] as unknown as readonly (readonly [string, Subject])[];

/** How many sequences of blocks are tried: on each runtime, and all together once more. */
const RUNS = 10;
const MANY_RUNS = casesOf(220, 20);

for (const [claim, subject] of SHELVES) {
  testOnEach(
    `Repository writes related rows ${claim}`,
    (database) => tryRuns(subject, database, RUNS),
    { slow: subject.isKeyed ? ["postgres", "mysql"] : [] },
  );
  testOnEach(
    `Repository writes related rows in many sequences ${claim}`,
    (database) => tryRuns(subject, database, MANY_RUNS),
    { slow: true, register: testOnce },
  );
}

const KINDS: readonly Kind[] = ["card", "book", "tag", "person"];

class RollBack extends Error {}

async function tryRuns(
  { Service, isKeyed }: Subject,
  { url }: TestDatabase,
  numRuns: number,
): Promise<void> {
  await using db = await Service.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 8 }), async (blocks) => {
      await db.bookTag.withDeleted().purgeMany({ all: true });
      for (const kind of KINDS) await repository(db, kind).withDeleted().purgeMany({ all: true });
      const copies = "books" in db ? db as unknown as Copies : undefined;
      // What was marked is not in the copies.
      assert.equal((copies?.books.size ?? 0) + (copies?.links.size ?? 0), 0);
      const memory = new MemoryShelf({ isKeyed });
      for (const block of blocks) {
        await runBlock({ db, memory, isKeyed }, block);
        assert.deepEqual(await linesOf(db), memory.toLines());
        if (copies) await checkCopies(db, copies);
      }
    }),
    { numRuns },
  );
}

/** The database, and rows in memory that have to stay the same. */
interface Both {
  readonly db: Shelf;
  readonly memory: MemoryShelf;
  readonly isKeyed: boolean;
}

async function runBlock(both: Both, block: Block): Promise<void> {
  const { db, memory } = both;
  const runAll = async () => {
    for (const write of block.writes) {
      const isRefused = await runBoth(both, write);
      // only what names relations is undone alone
      if (isRefused && block.isTransaction && !namesRelations(write)) throw new RollBack();
    }
    if (block.isTransaction && !block.commits) throw new RollBack();
  };
  if (!block.isTransaction) return await runAll();
  const restore = memory.save();
  try {
    await db.transaction(runAll);
  } catch (error) {
    if (!(error instanceof RollBack)) throw error;
    restore();
  }
}

/** Runs a write on both, and compares the results; returns whether it was refused. */
async function runBoth({ db, memory, isKeyed }: Both, write: Write): Promise<boolean> {
  const actual = await errorOf(() => runWrite(db, isKeyed ? named(write) : write));
  const expected = await errorOf(() => memory.write(write));
  if (actual === undefined && expected === undefined) return false;
  if (actual instanceof DbError && expected instanceof Refusal) {
    assert.equal(actual.code, expected.code);
    return true;
  }
  throw actual ?? new Error(`it is not refused: ${expected}`);
}

async function errorOf(run: () => unknown): Promise<unknown> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The operations of the repositories that the test uses. */
interface AnyRepository {
  withDeleted(): AnyRepository;
  scoped(scope: object): AnyRepository;
  create(options: object): Promise<unknown>;
  update(options: object): Promise<unknown>;
  upsert(options: object): Promise<unknown>;
  delete(options: object): Promise<unknown>;
  purgeMany(options: object): Promise<number>;
  findMany(options: object): Promise<ShelfRow[]>;
}

interface ShelfRow {
  readonly id: number;
  readonly code: string;
  readonly person_id?: number | null;
  readonly flag: boolean;
  readonly gone: Date | null;
}

function runWrite(db: Shelf, write: Write): Promise<unknown> {
  const { kind, scope, ...rest } = write;
  const all = repository(db, kind);
  const own = Object.keys(scope).length > 0 ? all.scoped(scope) : all;
  switch (rest.do) {
    case "create":
      return own.create({ data: rest.data });
    case "update":
      return own.update({ where: rest.where, data: rest.data });
    case "upsert":
      return own.upsert({ where: rest.where, create: rest.create, update: rest.update });
    case "delete":
      return own.delete({ where: rest.where });
  }
}

function namesRelations(write: Write): boolean {
  if (write.do === "delete") return false;
  const parts = write.do === "upsert" ? [write.create, write.update] : [write.data];
  return parts.some((part) => Object.keys(part).some((name) => name !== "code" && name !== "flag"));
}

/** Returns all rows as texts, sorted. */
async function linesOf(db: Shelf): Promise<readonly string[]> {
  const lines: string[] = [];
  const codes = new Map<string, string>();
  for (const kind of KINDS.toReversed()) {
    for (const row of await repository(db, kind).withDeleted().findMany({})) {
      codes.set(`${kind} ${row.id}`, row.code);
      const person = row.person_id ? [codes.get(`person ${row.person_id}`)!] : [];
      lines.push(
        lineOf(kind, { of: [row.code, ...person], flag: row.flag, isGone: row.gone !== null }),
      );
    }
  }
  for (const { book_id, tag_id, flag, gone } of await db.bookTag.withDeleted().findMany()) {
    const of = [codes.get(`book ${book_id}`)!, codes.get(`tag ${tag_id}`)!];
    lines.push(lineOf("bookTag", { of, flag, isGone: gone !== null }));
  }
  return lines.toSorted();
}

async function checkCopies(db: Shelf, copies: Copies): Promise<void> {
  const sorted = (rows: Iterable<object>) => Array.from(rows, textOf).toSorted();
  assert.deepEqual(sorted(copies.books.values()), sorted(await db.book.findMany()));
  assert.deepEqual(sorted(copies.links.values()), sorted(await db.bookTag.findMany()));
}

/** Names rows by a key of several columns in place of their code. */
function named<T>(value: T, member?: string): T {
  const isName = typeof value === "object" && value !== null && member !== undefined &&
    ["where", "connect", "disconnect", "set"].includes(member);
  if (Array.isArray(value)) return value.map((it) => named(it, member)) as T;
  if (typeof value !== "object" || value === null) return value;
  if (isName && "code" in value) {
    return { house_code: { house: HOUSE, code: value.code } } as T;
  }
  // Only names of rows become others.
  return Object.fromEntries(
    Object.entries(value).map(([name, it]) => [name, named(it, name)]),
  ) as T;
}

function repository(db: Shelf, kind: Kind): AnyRepository {
  // The data is random, and fits its model.
  return db[kind] as unknown as AnyRepository;
}
