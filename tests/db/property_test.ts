import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import {
  type CreateInput,
  DbError,
  DbOptions,
  DbService,
  field,
  type FindManyOptions,
  model,
  type Row,
  type UniqueWhere,
  type UpdateInput,
  type Where,
} from "../../src/db/mod.ts";
import { testOnEach } from "./database.ts";

const Thing = model("things", {
  id: field.integer().primaryKey(),
  code: field.text().unique(),
  name: field.text().nullable(),
  rank: field.integer().nullable(),
  flag: field.boolean().default(true),
});
class Things extends DbService.with({ thing: Thing }) {}
type Thing = Row<typeof Thing>;
type Column = keyof Thing;
/** What to find; `select` may lack columns, which is of no interest to types here. */
type Find = FindManyOptions<typeof Thing> & { select?: Record<Column, true> };

type Command =
  | { do: "create"; data: CreateInput<typeof Thing> }
  | { do: "createMany"; data: CreateInput<typeof Thing>[] }
  | { do: "findUnique" | "delete"; where: UniqueWhere<typeof Thing> }
  | { do: "findMany" | "findFirst"; options: Find }
  | { do: "update"; where: UniqueWhere<typeof Thing>; data: UpdateInput<typeof Thing> }
  | { do: "updateMany"; where: Where<typeof Thing>; data: UpdateInput<typeof Thing> }
  | {
    do: "upsert";
    where: UniqueWhere<typeof Thing>;
    create: CreateInput<typeof Thing>;
    update: UpdateInput<typeof Thing>;
  }
  | { do: "deleteMany" | "exists"; where: Where<typeof Thing> }
  | { do: "count"; where: Where<typeof Thing>; distinct: Column[] }
  | { do: "transaction"; commands: readonly Command[]; commits: boolean };
type Plain = Exclude<Command, { do: "transaction" }>;

/** How many sequences are tried on each database. */
const RUNS = 200;

/** Text that SQL, LIKE, GLOB, a collation or an encoding could take for another. */
const TEXTS = [
  "",
  " ",
  "a",
  "A",
  "a ",
  "ab",
  "á",
  "a\u0301",
  "ß",
  "ss",
  "'",
  '"',
  "\\",
  "\\'",
  "%",
  "_",
  "!",
  "*",
  "?",
  "[a]",
  "100%_!",
  "😀",
  "\uff5e",
  "; drop table things; --",
  "$1",
  ":a",
  "\n",
  "null",
];
const NUMBERS = [-2, -1, 0, 1, 2, 3, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
const COLUMNS = ["id", "code", "name", "rank", "flag"] as const;

const text = fc.constantFrom(...TEXTS);
const number = fc.constantFrom(...NUMBERS);
// Few, so that rows are found, and get in each other's way.
const id = fc.integer({ min: -1, max: 8 });
const code = fc.constantFrom("a", "A", "a ", "á", "a\u0301", "\\'", "%", "😀");
const rest = {
  name: fc.option(text),
  rank: fc.option(number),
  flag: fc.boolean(),
};
const optional = { requiredKeys: [] };
const updates = fc.record({ code, ...rest }, optional);
const keyless = fc.record({ code, ...rest }, { requiredKeys: ["code"] });
const keyed = fc.record({ id, code, ...rest }, { requiredKeys: ["id", "code"] });
const fewRows = fc.uniqueArray(keyless, { maxLength: 6, selector: ({ code }) => code });
const unique = fc.oneof(
  fc.record({ id }),
  { arbitrary: fc.record({ code }), weight: 3 },
  fc.record({ id, code: fc.record({ equals: code }) }),
);

function operators<V>(value: fc.Arbitrary<V>, more: Record<string, fc.Arbitrary<unknown>> = {}) {
  const some = fc.array(value, { maxLength: 3 });
  const record = fc.record(
    { equals: value, not: value, in: some, notIn: some, isNull: fc.boolean(), ...more },
    optional,
  );
  // Few at a time: a conjunction of many hardly ever holds.
  return fc.tuple(record, fc.nat()).map(([all, pick]) => {
    const entries = Object.entries(all);
    return entries.length === 0
      ? { isNull: false }
      : Object.fromEntries([entries[pick % entries.length]!]);
  });
}

function ordered<V>(value: fc.Arbitrary<V>) {
  return { lt: value, lte: value, gt: value, gte: value };
}

const part = fc.constantFrom("", " ", "a", "A", "s", "%", "_", "!", "*", "?", "[a]", "'", "\\");
const match = fc.record({ contains: part, startsWith: part, endsWith: part }, optional)
  .map((operators) => ({ isNull: false, ...operators }));
const { where } = fc.letrec<{ where: Where<typeof Thing>; column: Where<typeof Thing> }>((tie) => ({
  column: fc.oneof(
    fc.record({ id: fc.oneof(id, operators(id, ordered(id))) }),
    fc.record({ code: fc.oneof(code, operators(code, ordered(text))) }),
    fc.record({ name: fc.oneof(rest.name, operators(text, ordered(text))) }),
    fc.record({ code: match }),
    fc.record({ name: match }),
    fc.record({ rank: fc.oneof(rest.rank, operators(number, ordered(number))) }),
    fc.record({ flag: fc.oneof(fc.boolean(), operators(fc.boolean())) }),
  ) as fc.Arbitrary<Where<typeof Thing>>,
  where: fc.oneof(
    { maxDepth: 3 },
    { arbitrary: tie("column"), weight: 5 },
    { arbitrary: fc.constant({}), weight: 1 },
    {
      arbitrary: fc.tuple(tie("column"), tie("column")).map(([a, b]) => ({ ...a, ...b })),
      weight: 2,
    },
    { arbitrary: fc.record({ AND: fc.array(tie("where"), { maxLength: 2 }) }), weight: 1 },
    { arbitrary: fc.record({ OR: fc.array(tie("where"), { maxLength: 3 }) }), weight: 3 },
    { arbitrary: fc.record({ NOT: tie("where") }), weight: 3 },
  ),
}));
const direction = fc.constantFrom("asc", "desc");
const someColumns = fc.subarray([...COLUMNS]);
const find = fc.record({
  where,
  orderBy: fc.array(
    fc.tuple(fc.constantFrom(...COLUMNS), direction).map((order) => Object.fromEntries([order])),
    { maxLength: 3 },
  ),
  take: fc.nat({ max: 5 }),
  skip: fc.nat({ max: 3 }),
  distinct: someColumns,
  select: fc.subarray([...COLUMNS], { minLength: 1 })
    .map((names) => Object.fromEntries(names.map((name) => [name, true]))),
}, optional).map((options) =>
  // Which of the rows that tie is the first to be distinct is not said.
  options.distinct && options.orderBy?.length
    ? { ...options, orderBy: [...options.orderBy, { id: "asc" }] }
    : options
);
const { command } = fc.letrec<{ command: Command }>((tie) => {
  const kind = <D extends string>(...names: D[]) => fc.constantFrom(...names);
  const create = fc.record({ do: kind("create"), data: fc.oneof(keyless, keyed) });
  return {
    command: fc.oneof(
      { maxDepth: 2 },
      { arbitrary: create, weight: 6 },
      {
        arbitrary: fc.record({
          do: kind("createMany"),
          data: fc.oneof(
            fewRows,
            fc.array(keyed, { maxLength: 5 }),
          ),
        }),
        weight: 3,
      },
      { arbitrary: fc.record({ do: kind("findUnique", "delete"), where: unique }), weight: 3 },
      { arbitrary: fc.record({ do: kind("findMany", "findFirst"), options: find }), weight: 8 },
      { arbitrary: fc.record({ do: kind("update"), where: unique, data: updates }), weight: 3 },
      { arbitrary: fc.record({ do: kind("updateMany"), where, data: updates }), weight: 2 },
      {
        arbitrary: fc.tuple(
          fc.oneof(fc.record({ id }), fc.record({ code })),
          keyless,
          updates,
        )
          .map(([where, create, update]) =>
            ({ do: "upsert", where, create: { ...create, ...where }, update }) as const
          ),
        weight: 4,
      },
      { arbitrary: fc.record({ do: kind("deleteMany"), where }), weight: 1 },
      { arbitrary: fc.record({ do: kind("exists"), where }), weight: 1 },
      { arbitrary: fc.record({ do: kind("count"), where, distinct: someColumns }), weight: 2 },
      {
        arbitrary: fc.record({
          do: kind("transaction"),
          commands: fc.array(tie("command"), { maxLength: 4 }),
          commits: fc.boolean(),
        }),
        weight: 3,
      },
    ) as fc.Arbitrary<Command>,
  };
});

/** Why a command is refused, and the columns that may be at fault. */
class Refusal extends Error {
  readonly code: "RowNotFound" | "UniqueViolation";
  readonly fields: readonly string[];
  constructor(code: "RowNotFound" | "UniqueViolation", fields: readonly string[] = []) {
    super(code);
    this.code = code;
    this.fields = fields;
  }
}

type KeyOf = (code: string) => number | Promise<number>;

/** The rows, as plain as can be. */
class Memory {
  rows: readonly Thing[] = [];

  /** Runs a command; `keyOf` tells the key that the database gave to the row with a code. */
  async run(command: Plain, keyOf: KeyOf): Promise<unknown> {
    switch (command.do) {
      case "create":
        return await this.#create(command.data, keyOf);
      case "createMany": {
        const { rows } = this;
        try {
          for (const data of command.data) await this.#create(data, keyOf);
        } catch (error) {
          this.rows = rows;
          throw error;
        }
        return command.data.length;
      }
      case "findUnique":
        return this.#where(command.where)[0] ?? null;
      case "findMany":
        return this.#find(command.options);
      case "findFirst":
        return this.#find({ ...command.options, take: 1 })[0]?.[0] ?? null;
      case "update":
        return this.#update([this.#one(command.where)], command.data)[0];
      case "updateMany":
        return this.#update(this.#where(command.where), command.data).length;
      case "upsert": {
        const [row] = this.#where(command.where);
        if (row) return this.#update([row], command.update)[0];
        return await this.#create(command.create, keyOf);
      }
      case "delete": {
        const row = this.#one(command.where);
        this.rows = this.rows.filter((it) => it !== row);
        return row;
      }
      case "deleteMany": {
        const rows = this.#where(command.where);
        this.rows = this.rows.filter((it) => !rows.includes(it));
        return rows.length;
      }
      case "exists":
        return this.#where(command.where).length > 0;
      case "count":
        return distinctBy(this.#where(command.where), command.distinct).length;
    }
  }

  #where(where: object): Thing[] {
    return this.rows.filter((row) => holds(where, row) === true);
  }

  #one(where: object): Thing {
    const [row] = this.#where(where);
    if (row) return row;
    throw new Refusal("RowNotFound");
  }

  async #create(data: CreateInput<typeof Thing>, keyOf: KeyOf): Promise<Thing> {
    this.#checkUnique(data, []);
    const row = {
      id: data.id ?? await keyOf(data.code),
      code: data.code,
      name: data.name ?? null,
      rank: data.rank ?? null,
      flag: data.flag ?? true,
    };
    this.#checkUnique(row, []);
    this.rows = [...this.rows, row];
    return row;
  }

  #update(rows: readonly Thing[], data: UpdateInput<typeof Thing>): Thing[] {
    for (const row of rows) this.#checkUnique(data, [row]);
    if (rows.length > 1 && data.code !== undefined) throw new Refusal("UniqueViolation", ["code"]);
    const updated = rows.map((row) => ({ ...row, ...data }));
    this.rows = [...this.rows.filter((it) => !rows.includes(it)), ...updated];
    return updated;
  }

  #checkUnique({ id, code }: { id?: number | undefined; code?: string | undefined }, own: Thing[]) {
    const others = this.rows.filter((row) => !own.includes(row));
    const fields = [
      ...(others.some((row) => row.id === id) ? ["id"] : []),
      ...(others.some((row) => row.code === code) ? ["code"] : []),
    ];
    if (fields.length > 0) throw new Refusal("UniqueViolation", fields);
  }

  /** Gives rows in groups, each in any order. */
  #find({ where = {}, orderBy = [], take, skip, distinct = [], select }: Find): unknown[][] {
    const order = (Array.isArray(orderBy) ? orderBy : [orderBy]).flatMap(Object.entries);
    const isBounded = take !== undefined || skip !== undefined;
    const total = [...order, ["id", "asc"]];
    const sorted = this.#where(where).toSorted((a, b) => compareBy(total, a, b));
    const first = distinctBy(sorted, distinct);
    const page = first.slice(skip ?? 0, (skip ?? 0) + (take ?? Infinity));
    const groups: Thing[][] = [];
    for (const row of page) {
      const last = groups.at(-1)?.[0];
      if (last && compareBy(isBounded ? total : order, last, row) === 0) groups.at(-1)!.push(row);
      else groups.push([row]);
    }
    const names = select === undefined ? COLUMNS : COLUMNS.filter((name) => select[name]);
    const selected = (row: Thing) => Object.fromEntries(names.map((name) => [name, row[name]]));
    return groups.map((rows) => rows.map(selected));
  }
}

/** Orders as the databases do: `null` first, then numbers by size and text by code point. */
function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
  return Number(a) - Number(b);
}

function compareBy(order: readonly unknown[][], a: Thing, b: Thing): number {
  for (const [name, direction] of order as [Column, string][]) {
    const compared = compare(a[name], b[name]);
    if (compared !== 0) return direction === "asc" ? compared : -compared;
  }
  return 0;
}

function distinctBy(rows: readonly Thing[], columns: readonly Column[]): readonly Thing[] {
  if (columns.length === 0) return rows;
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = JSON.stringify(columns.map((name) => row[name]));
    return seen.size < seen.add(key).size;
  });
}

/** Tells whether a condition holds; `null` if that is unknown, as in SQL. */
function holds(where: object, row: Thing): boolean | null {
  return all(
    Object.entries(where).map(([name, condition]) => {
      if (name === "AND") return all(condition.map((part: object) => holds(part, row)));
      if (name === "OR") return not(all(condition.map((part: object) => not(holds(part, row)))));
      if (name === "NOT") return not(holds(condition, row));
      const value = row[name as Column];
      if (typeof condition !== "object" || condition === null) {
        return meets(value, "equals", condition);
      }
      return all(
        Object.entries(condition).map(([operator, it]) => meets(value, operator, it)),
      );
    }),
  );
}

function meets(value: Thing[Column], operator: string, operand: unknown): boolean | null {
  if (operator === "isNull") return (value === null) === operand;
  if (operand === null) return (value === null) === (operator === "equals");
  if (operator === "notIn") return not(meets(value, "in", operand));
  if (operator === "in" && (operand as unknown[]).length === 0) return false;
  if (value === null) return null;
  const compared = compare(value, operand);
  switch (operator) {
    case "equals":
      return compared === 0;
    case "not":
      return compared !== 0;
    case "in":
      return (operand as unknown[]).includes(value);
    case "lt":
      return compared < 0;
    case "lte":
      return compared <= 0;
    case "gt":
      return compared > 0;
    case "gte":
      return compared >= 0;
    case "contains":
      return String(value).includes(String(operand));
    case "startsWith":
      return String(value).startsWith(String(operand));
    case "endsWith":
      return String(value).endsWith(String(operand));
  }
  throw new Error(`there is no operator ${operator}`);
}

function all(parts: readonly (boolean | null)[]): boolean | null {
  if (parts.includes(false)) return false;
  return parts.includes(null) ? null : true;
}

function not(part: boolean | null): boolean | null {
  return part === null ? null : !part;
}

/** Adds the last key that was generated to those in commands, so that they meet those to come. */
function shifted<T>(commands: T, lastKey: number): T {
  const shift = (value: unknown, isKey: boolean): unknown => {
    if (typeof value === "number" && isKey) return value < 0 ? value : value + lastKey;
    if (Array.isArray(value)) return value.map((part) => shift(part, isKey));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, shift(part, isKey || name === "id")]),
    );
  };
  // Only numbers become others.
  return shift(commands, false) as T;
}

class RollBack extends Error {}

/** Runs commands on both; one that is refused ends the transaction that it is part of. */
async function runAll(
  db: Things,
  memory: Memory,
  commands: readonly Command[],
  isInside = false,
): Promise<void> {
  for (const command of commands) {
    if (command.do !== "transaction") {
      const refused = await runBoth(db, memory, command);
      if (refused && isInside) throw new RollBack();
      continue;
    }
    const { rows } = memory;
    try {
      await db.transaction(async () => {
        await runAll(db, memory, command.commands, true);
        if (!command.commits) throw new RollBack();
      });
    } catch (error) {
      if (!(error instanceof RollBack)) throw error;
      memory.rows = rows;
    }
  }
}

/** Runs a command on both, and compares what becomes of it; tells whether it was refused. */
async function runBoth({ thing }: Things, memory: Memory, command: Plain): Promise<boolean> {
  const actual = await outcome(() => runOn(thing, command));
  const keyOf = async (code: string) => {
    if (actual instanceof DbError) return NaN;
    const row = await thing.findUnique({ where: { code }, select: { id: true } });
    return row?.id ?? assert.fail("the row is not there");
  };
  const expected = await outcome(() => memory.run(command, keyOf));
  if (actual instanceof DbError && expected instanceof Refusal) {
    assert.equal(actual.code, expected.code);
    // Where two columns are at fault, databases do not agree on which to name.
    assert.equal(actual.fields.length, Math.min(1, expected.fields.length));
    assert.ok(actual.fields.every((name) => expected.fields.includes(name)), `${actual.fields}`);
    return true;
  }
  if (actual instanceof Error) throw actual;
  if (expected instanceof Error) assert.fail(`it is not refused: ${expected.message}`);
  if (command.do !== "findMany") {
    assert.deepEqual(actual, expected);
    return false;
  }
  const rows = [...actual as unknown[]];
  const groups = expected as unknown[][];
  assert.deepEqual(
    groups.flatMap(({ length }) => sorted(rows.splice(0, length))),
    groups.flatMap(sorted),
  );
  assert.deepEqual(rows, []);
  return false;
}

async function outcome(run: () => Promise<unknown>): Promise<unknown> {
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

function runOn(thing: Things["thing"], command: Plain): Promise<unknown> {
  // A condition that holds for every row is to be asked for by name, or to name a column.
  const naming = (where: Where<typeof Thing>) => ({ AND: [where, { id: { notIn: [] } }] });
  switch (command.do) {
    case "create":
      return thing.create(command);
    case "createMany":
      return thing.createMany(command);
    case "findUnique":
      return thing.findUnique(command);
    case "findMany":
      return thing.findMany(command.options);
    case "findFirst":
      return thing.findFirst(command.options);
    case "update":
      return thing.update(command);
    case "updateMany":
      return thing.updateMany({ where: naming(command.where), data: command.data });
    case "upsert":
      return thing.upsert(command);
    case "delete":
      return thing.delete(command);
    case "deleteMany":
      return thing.deleteMany({ where: naming(command.where) });
    case "exists":
      return thing.exists(command);
    case "count":
      return thing.count(command);
  }
}

testOnEach("Repository does as a list of rows in memory would", async ({ url }) => {
  await using db = await Things.open(DbOptions.fromUrl(url));
  await db.createTables();
  await fc.assert(
    fc.asyncProperty(fewRows, fc.array(command, { maxLength: 20 }), async (data, commands) => {
      const { id } = await db.thing.create({ data: { code: "the last key" } });
      await db.thing.deleteMany({ all: true });
      const memory = new Memory();
      await runAll(db, memory, shifted([{ do: "createMany", data }, ...commands], id));
      const rows = await db.thing.findMany({ orderBy: { id: "asc" } });
      assert.deepEqual(rows, memory.rows.toSorted((a, b) => a.id - b.id));
    }),
    { numRuns: RUNS },
  );
});
