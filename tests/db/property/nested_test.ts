/** Writes of rows together with related rows, against rows in memory. */
import assert from "node:assert/strict";
import process from "node:process";
import fc from "fast-check";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { SCOPE } from "../../support/test.ts";
import { testOnEach } from "../support/database.ts";
import { type Kind, MirroredShelf, Shelf } from "../support/shelf.ts";
import { type Block, block, type Write } from "./arbitrary_nested.ts";
import { lineOf, MemoryShelf } from "./memory_nested.ts";
import { Refusal } from "./memory_repository.ts";

/** How many sequences of blocks are tried: over 500 on each database by all tests of all runtimes. */
const RUNS = process.env[SCOPE] === "all" ? 65 : 15;

testOnEach("Repository writes related rows as rows in memory would be", async ({ url }) => {
  await tryRuns(Shelf, url);
});

testOnEach("Repository writes related rows with hooks, which miss no row", async ({ url }) => {
  await tryRuns(MirroredShelf, url);
});

const KINDS: readonly Kind[] = ["card", "book", "tag", "person"];

class RollBack extends Error {}

async function tryRuns(
  Service: typeof Shelf | typeof MirroredShelf,
  url: string,
): Promise<void> {
  await using db = await Service.open<Shelf | MirroredShelf>(DbOptions.fromUrl(url));
  await db.createTables();
  await fc.assert(
    fc.asyncProperty(fc.array(block, { minLength: 1, maxLength: 8 }), async (blocks) => {
      await db.bookTag.withDeleted().purgeMany({ all: true });
      for (const kind of KINDS) await repository(db, kind).withDeleted().purgeMany({ all: true });
      if (db instanceof MirroredShelf) assert.equal(db.books.size + db.links.size, 0);
      const memory = new MemoryShelf();
      for (const block of blocks) {
        await runBlock(db, memory, block);
        assert.deepEqual(await linesOf(db), memory.toLines());
        if (db instanceof MirroredShelf) await checkMirror(db);
      }
    }),
    { numRuns: RUNS },
  );
}

async function runBlock(db: Shelf, memory: MemoryShelf, block: Block): Promise<void> {
  const runAll = async () => {
    for (const write of block.writes) {
      const isRefused = await runBoth(db, memory, write);
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
async function runBoth(db: Shelf, memory: MemoryShelf, write: Write): Promise<boolean> {
  const actual = await errorOf(() => runWrite(db, write));
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

async function checkMirror(db: MirroredShelf): Promise<void> {
  const byKey = (a: { id: number }, b: { id: number }) => a.id - b.id;
  const books = await db.book.findMany({ orderBy: { id: "asc" } });
  assert.deepEqual([...db.books.values()].toSorted(byKey), books);
  const links = await db.bookTag.findMany({ orderBy: { id: "asc" } });
  assert.deepEqual([...db.links.values()].toSorted(byKey), links);
}

function repository(db: Shelf, kind: Kind): AnyRepository {
  // The data is random, and fits its model.
  return db[kind] as unknown as AnyRepository;
}
