import assert from "node:assert/strict";
import fc from "fast-check";
import { DbError, DbOptions } from "../../../src/db/mod.ts";
import { casesOf, testOnce } from "../../support/test.ts";
import { type TestDatabase, testOnEach } from "../support/database.ts";
import {
  COMPOSITE_KEYS,
  KeyedThings,
  KEYS,
  type Keys,
  MirroredKeyedThings,
  MirroredThings,
  Things,
} from "../support/thing.ts";
import {
  type Command,
  type Creation,
  type Operation,
  runOperation,
  type Scope,
} from "../support/thing_operations.ts";
import { commandOf } from "./arbitrary_commands.ts";
import { KEYED_WRITING, WRITING, type Writing } from "./arbitrary_things.ts";
import { textOf } from "./memory_condition.ts";
import { type GeneratedKeys, MemoryRepository, Refusal } from "./memory_repository.ts";

/** A service, and what its rows are. */
interface Subject {
  readonly Service: typeof Things | typeof MirroredThings;
  readonly keys: Keys;
  readonly writing: Writing;
}

const THINGS: Subject = { Service: Things, keys: KEYS, writing: WRITING };
const HOOKED: Subject = { ...THINGS, Service: MirroredThings };
const KEYED = { keys: COMPOSITE_KEYS, writing: KEYED_WRITING };
// By type, the keys of rows are others.
const KEYED_THINGS = { ...KEYED, Service: KeyedThings } as unknown as Subject;
const KEYED_HOOKED = { ...KEYED, Service: MirroredKeyedThings } as unknown as Subject;

/** How many sequences are tried on each database: on each runtime, and all together once more. */
const TRIED = [
  ["as a list of rows in memory would", THINGS, { short: 40, more: 200 }],
  ["the same with hooks, which miss no row", HOOKED, { short: 20, more: 100 }],
  ["the same with keys of several columns", KEYED_THINGS, { short: 20, more: 280 }],
  ["the same with hooks and keys of several columns", KEYED_HOOKED, { short: 10, more: 120 }],
] as const;

for (const [claim, subject, { short, more }] of TRIED) {
  testOnEach(
    `Repository does ${claim}`,
    (database) => tryRuns(subject, database, { numRuns: short }),
    { slow: subject === THINGS ? [] : ["postgres", "mysql"] },
  );
  testOnEach(
    `Repository does, in many sequences, ${claim}`,
    (database) => tryRuns(subject, database, { numRuns: casesOf(more) }),
    { slow: true, register: testOnce },
  );
}

testOnEach(
  "Repository does the same with read replicas, which are the database itself",
  (database) => {
    const { url } = database;
    return tryRuns(THINGS, database, { numRuns: casesOf(100), replicas: [url, url] });
  },
  { brands: ["postgres", "mysql"], slow: true, register: testOnce },
);

async function tryRuns(
  { Service, keys, writing }: Subject,
  { url }: TestDatabase,
  { numRuns, replicas = [] }: { readonly numRuns: number; readonly replicas?: readonly string[] },
): Promise<void> {
  const clock = { ms: Date.UTC(2026, 0, 1) };
  const now = () => clock.ms;
  const options = DbOptions.fromUrl(url).now(now);
  await using db = await Service.open<Things | MirroredThings>(
    replicas.length > 0 ? options.replicas(replicas) : options,
  );
  await db.createTables();
  const commands = fc.array(commandOf(writing), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(writing.fewRows, commands, async (data, commands) => {
      const { id } = await db.thing.create({ data: { code: "the last key" } });
      const all = db.thing.withDeleted();
      await all.purgeMany({ all: true });
      const memory = new MemoryRepository(id, { keys, now });
      const both = { db, memory, clock };
      await runBoth(both, {}, { do: "createMany", data });
      await runAll(both, keys.areGenerated ? shifted(commands, id) : commands);
      const orderBy = keys.primary.map((name) => ({ [name]: "asc" as const }));
      assert.deepEqual(await all.findMany({ orderBy }), memory.toRows());
      if (!("copy" in db)) return;
      const live = memory.toRows().filter(({ gone }) => gone === null);
      assert.deepEqual([...db.copy.values()].toSorted(byText), live.toSorted(byText));
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
      const { scope, operation } = command;
      const refused = await runBoth(both, scope, isInside ? operation : unlocked(operation));
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
    // Where two keys are at fault, databases do not agree on which to name.
    const fields = actual.fields.toSorted().join();
    assert.ok(expected.faults.some((fault) => fault.toSorted().join() === fields), fields);
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

/** A lock needs a transaction. */
function unlocked(operation: Operation): Operation {
  return "lock" in operation ? { ...operation, lock: {} } : operation;
}

/** Checks rows that are given in groups, each of them in any order. */
function checkGroups(rows: readonly unknown[], groups: readonly (readonly unknown[])[]): void {
  const rest = [...rows];
  const grouped = groups.flatMap(({ length }) => sorted(rest.splice(0, length)));
  assert.deepEqual([...grouped, ...rest], groups.flatMap(sorted));
}

/** Reads the keys of the rows that were created without one. */
async function generatedKeys({ thing }: Things, operation: Operation): Promise<GeneratedKeys> {
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
  return rows.toSorted(byText);
}

function byText(a: unknown, b: unknown): number {
  return textOf(a) < textOf(b) ? -1 : 1;
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
