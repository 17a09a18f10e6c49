import assert from "node:assert/strict";
import fc from "fast-check";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { command } from "./arbitrary_commands.ts";
import { fewRows } from "./arbitrary_things.ts";
import { testOnce } from "../../support/test.ts";
import { testOnEach } from "../support/database.ts";
import { type Keys, MemoryRepository, Refusal } from "./memory_repository.ts";
import {
  type Command,
  type Creation,
  MirroredThings,
  type Operation,
  runOperation,
  type Scope,
  Things,
} from "../support/thing.ts";

/** How many sequences are tried on each database. */
const RUNS = 40;
const MANY_RUNS = 200;
/** The same, with hooks. */
const HOOKED_RUNS = 20;
const MANY_HOOKED_RUNS = 100;

testOnEach("Repository does as a list of rows in memory would", async ({ url }) => {
  await tryRuns(Things, { url, numRuns: RUNS });
});

testOnEach("Repository does the same with hooks, which miss no row", async ({ url }) => {
  await tryRuns(MirroredThings, { url, numRuns: HOOKED_RUNS });
});

testOnEach("Repository does, in many sequences, as a list of rows in memory would", async (
  { url },
) => {
  await tryRuns(Things, { url, numRuns: MANY_RUNS });
}, { exhaustive: true, register: testOnce });

testOnEach("Repository does, in many sequences, the same with hooks", async ({ url }) => {
  await tryRuns(MirroredThings, { url, numRuns: MANY_HOOKED_RUNS });
}, { exhaustive: true, register: testOnce });

async function tryRuns(
  Service: typeof Things | typeof MirroredThings,
  { url, numRuns }: { readonly url: string; readonly numRuns: number },
): Promise<void> {
  const clock = { ms: Date.UTC(2026, 0, 1) };
  const now = () => clock.ms;
  await using db = await Service.open<Things | MirroredThings>(DbOptions.fromUrl(url).now(now));
  await db.createTables();
  await fc.assert(
    fc.asyncProperty(fewRows, fc.array(command, { maxLength: 20 }), async (data, commands) => {
      const { id } = await db.thing.create({ data: { code: "the last key" } });
      const all = db.thing.withDeleted();
      await all.purgeMany({ all: true });
      const memory = new MemoryRepository(id, now);
      await runBoth({ db, memory, clock }, {}, { do: "createMany", data });
      await runAll({ db, memory, clock }, shifted(commands, id));
      assert.deepEqual(await all.findMany({ orderBy: { id: "asc" } }), memory.toRows());
      if (!(db instanceof MirroredThings)) return;
      const rows = await db.thing.findMany({ orderBy: { id: "asc" } });
      assert.deepEqual([...db.copy.values()].toSorted((a, b) => a.id - b.id), rows);
    }),
    { numRuns },
  );
}

/** The database, and rows in memory that have to stay the same. */
interface Both {
  readonly db: Things;
  readonly memory: MemoryRepository;
  /** The time, which advances with each operation. */
  readonly clock: { ms: number };
}

class RollBack extends Error {}

/** Runs commands on both; one that is refused ends the transaction that it is part of. */
async function runAll(
  both: Both,
  commands: readonly Command[],
  { isInside = false }: { readonly isInside?: boolean } = {},
): Promise<void> {
  const { db, memory } = both;
  for (const command of commands) {
    if (command.do === "operation") {
      const refused = await runBoth(both, command.scope, command.operation);
      if (refused && isInside) throw new RollBack();
      continue;
    }
    const restore = memory.save();
    try {
      await db.transaction(async () => {
        await runAll(both, command.commands, { isInside: true });
        if (!command.commits) throw new RollBack();
      });
    } catch (error) {
      if (!(error instanceof RollBack)) throw error;
      restore();
    }
  }
}

/** Runs an operation on both, and compares the results; returns whether it failed. */
async function runBoth(
  { db, memory, clock }: Both,
  scope: Scope,
  operation: Operation,
): Promise<boolean> {
  clock.ms += 1;
  const actual = await outcome(() => runOperation(db, scope, operation));
  const keys = actual instanceof Error ? new Map() : await generatedKeys(db, operation);
  const expected = await outcome(() => memory.run(operation, scope, keys));
  if (actual instanceof DbError && expected instanceof Refusal) {
    assert.equal(actual.code, expected.code);
    // Where two columns are at fault, databases do not agree on which to name.
    assert.equal(actual.fields.length, Math.min(1, expected.fields.length));
    assert.ok(actual.fields.every((name) => expected.fields.includes(name)), `${actual.fields}`);
    return true;
  }
  if (actual instanceof Error) throw actual;
  if (expected instanceof Error) assert.fail(`it is not refused: ${expected.message}`);
  // Both return lists then, and the memory returns groups.
  const isGrouped = ["findMany", "updateManyAndReturn", "groupBy"].includes(operation.do);
  if (isGrouped) checkGroups(actual as unknown[], expected as unknown[][]);
  else assert.deepEqual(actual, expected);
  return false;
}

/** Checks rows that are given in groups, each of them in any order. */
function checkGroups(rows: readonly unknown[], groups: readonly (readonly unknown[])[]): void {
  const rest = [...rows];
  const grouped = groups.flatMap(({ length }) => sorted(rest.splice(0, length)));
  assert.deepEqual([...grouped, ...rest], groups.flatMap(sorted));
}

/** Reads the keys of the rows that were created without one. */
async function generatedKeys({ thing }: Things, operation: Operation): Promise<Keys> {
  const codes = created(operation).filter(({ id }) => id === undefined).map(({ code }) => code);
  if (codes.length === 0) return new Map();
  const rows = await thing.withDeleted().findMany({ where: { code: { in: codes } } });
  return new Map(rows.map(({ code, id }) => [code, id]));
}

function created(operation: Operation): readonly Creation[] {
  switch (operation.do) {
    case "create":
      return [operation.data];
    case "createMany":
    case "createManyAndReturn":
      return operation.data;
    case "upsertMany":
      return operation.create;
    case "upsert":
      return [operation.create];
    default:
      return [];
  }
}

async function outcome(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof DbError || error instanceof Refusal) return error;
    throw error;
  }
}

function sorted(rows: readonly unknown[]): readonly unknown[] {
  return rows.toSorted((a, b) => JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
}

/** Adds the last key that was generated to those in commands, so that they meet those to come. */
function shifted<T>(commands: T, lastKey: number): T {
  const shift = (value: unknown, isKey: boolean): unknown => {
    if (typeof value === "number" && isKey) return value < 0 ? value : value + lastKey;
    if (Array.isArray(value)) return value.map((part) => shift(part, isKey));
    if (typeof value !== "object" || value === null || value instanceof Date) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, shift(part, isKey || name === "id")]),
    );
  };
  // Only numbers become others.
  return shift(commands, false) as T;
}
