/**
 * Reads the rows that are related to others: one query for each relation, however many rows.
 *
 * @module
 */
import { checkOptions, isPlainObject } from "../model/plain_object.ts";
import { givenFilters } from "./condition.ts";
import { dropUnselected, type PageOptions, readSelection } from "./find_options.ts";
import { every, scopeFilters } from "./filters.ts";
import { identity } from "./key.ts";
import { Operation } from "./operation.ts";
import { DbError } from "../errors.ts";
import { RelatedQuery } from "./related_query.ts";
import type { TableRelation } from "./table.ts";
import { type AnyRow, decodeRow, type TableColumn } from "./table_column.ts";

/** A relation to read with rows. */
export interface Inclusion {
  /** The columns that relate the rows. */
  readonly needed: readonly TableColumn[];
  /** Reads the related rows, and adds them to the rows. */
  readonly addTo: (rows: readonly AnyRow[]) => Promise<void>;
}

/** A relation that an `include` names. */
interface NamedRelation {
  readonly name: string;
  readonly relation: TableRelation;
  /** Whether its rows are counted, and not read. */
  readonly isCount: boolean;
}

/** The queries of a relation: the first is prepared, others are for more keys than it can have. */
interface RelatedReadings extends NamedRelation {
  readonly first: RelatedReading;
  readonly prepare: () => RelatedReading;
}

type Options = Readonly<Record<string, unknown>>;

/** Each level can multiply the rows of the answer, and each relation is a query. */
const MAX_DEPTH = 8;
const MAX_RELATIONS = 100;

const ONE_OPTIONS: readonly string[] = ["select", "include"];
const MANY_OPTIONS: readonly string[] = [...ONE_OPTIONS, "where", "orderBy", "take", "skip"];
const COUNT_OPTIONS: readonly string[] = ["where"];

/** The member of an include that counts related rows, and of the rows that has their numbers. */
const COUNT = "_count";

/**
 * Reads an `include`, with all that is in it.
 *
 * @throws {TypeError} if it has an unknown relation or option, over 8 levels or 100 relations
 */
export function readInclude(include: unknown, operation: Operation): readonly Inclusion[] {
  countRelations({ include, depth: 1 }, operation);
  return readRelations(include, operation);
}

function readRelations(include: unknown, operation: Operation): readonly Inclusion[] {
  if (include === undefined) return [];
  if (!isPlainObject(include)) throw operation.mistake("include is not a plain object");
  return Object.keys(include).flatMap((name) =>
    name === COUNT
      ? readCounts(include[name], operation)
      : readRelation({ name, options: include[name], isCount: false }, operation)
  );
}

function readCounts(counts: unknown, operation: Operation): readonly Inclusion[] {
  if (!isRead(counts)) return [];
  if (!isPlainObject(counts)) throw operation.mistake(`include.${COUNT} is not a plain object`);
  const { table } = operation;
  if (table.has(COUNT)) throw operation.mistake(`${COUNT} is a column`);
  // deno-lint-ignore require-await
  const addTo = async (rows: readonly AnyRow[]) => rows.forEach((row) => row[COUNT] = {});
  return [
    { needed: [], addTo },
    ...Object.keys(counts).flatMap((name) =>
      readRelation({ name, options: counts[name], isCount: true }, operation)
    ),
  ];
}

function readRelation(
  { name, options, isCount }: {
    readonly name: string;
    readonly options: unknown;
    readonly isCount: boolean;
  },
  operation: Operation,
): readonly Inclusion[] {
  const relation = operation.table.relations.get(name);
  if (!relation) throw operation.mistake(`there is no relation ${JSON.stringify(name)}`);
  if (isCount && relation.kind !== "many") throw operation.mistake(`${name} is not counted`);
  if (!isRead(options)) return [];
  const read = optionsOf({ name, relation, isCount, options }, operation);
  const prepare = () => new RelatedReading({ relation, isCount, options: read }, operation);
  // The options are checked before anything is read.
  const first = prepare();
  const readings = { name, relation, isCount, first, prepare };
  return [{ needed: [relation.own], addTo: (rows) => addRelated(rows, readings) }];
}

function isRead(options: unknown): boolean {
  return options !== undefined && options !== false;
}

/** One query of related rows, and the rows that are related to those. */
class RelatedReading {
  readonly #relation: TableRelation;
  readonly #isCount: boolean;
  readonly #operation: Operation;
  readonly #select: unknown;
  readonly #columns: readonly TableColumn[];
  readonly #inclusions: readonly Inclusion[];
  readonly #query: RelatedQuery;

  constructor(
    { relation, options, isCount }: {
      readonly relation: TableRelation;
      readonly options: Options;
      readonly isCount: boolean;
    },
    { scope, seesDeleted, action }: Operation,
  ) {
    const { own, table, their, through } = relation;
    const context = { table, scope, seesDeleted, action };
    const operation = new Operation(isCount ? "counted" : "related", context);
    operation.section(`from ${own.table} ${own.name}`);
    operation.section(
      through
        ? `through ${through.table.name} ${through.own.name} ${through.their.name}`
        : `by ${their.name}`,
    );
    const links = through ? scopeFilters(operation, through) : [];
    operation.section("of");
    this.#relation = relation;
    this.#isCount = isCount;
    this.#operation = operation;
    this.#select = options.select;
    this.#inclusions = readRelations(options.include, operation);
    const needed = this.#inclusions.flatMap(({ needed }) => needed);
    this.#columns = readSelection({ select: options.select, needed }, operation);
    const scoped = scopeFilters(operation);
    // Their types are checked where they are read.
    const page = options as PageOptions;
    const related = {
      relation,
      isCount,
      page,
      columns: this.#columns,
      filter: every([...scoped, ...givenFilters(options, operation)]),
      links,
    };
    this.#query = new RelatedQuery(related, operation);
  }

  /** The most keys that it reads. */
  get maxKeys(): number {
    return this.#query.maxKeys;
  }

  /** Reads the rows that belong to keys, each with its key; or their number. */
  async read(keys: readonly unknown[]): Promise<readonly (readonly [unknown, AnyRow | number])[]> {
    const { own } = this.#relation;
    const { rows } = await this.#operation.run(this.#query.of(keys));
    if (this.#isCount) return rows.map(([key, count]) => [own.decode(key), Number(count)] as const);
    const found = rows.map(([key, ...values]) =>
      [own.decode(key), decodeRow(values, this.#columns)] as const
    );
    const read = found.map(([, row]) => row);
    for (const inclusion of this.#inclusions) await inclusion.addTo(read);
    dropUnselected(read, { select: this.#select, columns: this.#columns });
    return found;
  }
}

async function addRelated(
  rows: readonly AnyRow[],
  { name, isCount, relation: { kind, isOwn, own, table }, first, prepare }: RelatedReadings,
): Promise<void> {
  const values = new Map<unknown, unknown>();
  for (const { [own.name]: value } of rows) if (value !== null) values.set(identity(value), value);
  const related = new Map<unknown, (AnyRow | number)[]>();
  let prepared: RelatedReading | undefined = first;
  async function read(keys: readonly unknown[]): Promise<void> {
    for (let start = 0; start < keys.length; start += first.maxKeys) {
      const some = keys.slice(start, start + first.maxKeys);
      const wanted = new Set(some.map(identity));
      const reading = prepared ?? prepare();
      prepared = undefined;
      for (const [key, row] of await reading.read(some)) {
        const id = identity(key);
        if (!wanted.has(id)) {
          const reason = `the collation of ${own.table}.${own.name} or its reference equates texts`;
          throw new DbError("Database", `Cannot relate ${table.name}: ${reason}`);
        }
        const found = related.get(id);
        if (found) found.push(row);
        else related.set(id, [row]);
      }
    }
  }
  await read([...values.values()]);
  if (isOwn && own.field.kind === "text" && related.size > 0) {
    // of texts that the database equates, the row has come with one: the others find it alone
    await read([...values].flatMap(([id, value]) => related.has(id) ? [] : [value]));
  }
  for (const row of rows) {
    const found = related.get(identity(row[own.name])) ?? [];
    const [one] = found;
    if (isCount) (row[COUNT] as AnyRow)[name] = one ?? 0;
    // Several rows may refer to one: each gets a copy.
    else row[name] = kind === "many" ? found : typeof one === "object" ? { ...one } : null;
  }
}

/** Returns how many relations an `include` has, with those inside it. */
function countRelations(
  { include, depth }: { readonly include: unknown; readonly depth: number },
  operation: Operation,
): number {
  if (!isPlainObject(include)) return 0;
  let count = 0;
  for (const [name, options] of Object.entries(include)) {
    if (!isRead(options)) continue;
    if (name === COUNT) {
      count += countRelations({ include: options, depth }, operation);
      continue;
    }
    if (depth > MAX_DEPTH) {
      throw operation.mistake(`include is nested over ${MAX_DEPTH} levels deep`);
    }
    count += 1;
    if (isPlainObject(options)) {
      count += countRelations({ include: options.include, depth: depth + 1 }, operation);
    }
    if (count > MAX_RELATIONS) {
      throw operation.mistake(`include has over ${MAX_RELATIONS} relations`);
    }
  }
  return count;
}

function optionsOf(
  { name, relation: { kind }, isCount, options }: NamedRelation & { readonly options: unknown },
  operation: Operation,
): Options {
  if (options === true) return {};
  const subject = isCount ? `include.${COUNT}.${name}` : `include.${name}`;
  if (!isPlainObject(options)) {
    throw operation.mistake(`${subject} is neither a boolean nor a plain object`);
  }
  const { action } = operation;
  const known = isCount ? COUNT_OPTIONS : kind === "many" ? MANY_OPTIONS : ONE_OPTIONS;
  checkOptions(options, known, { action, subject });
  return options;
}
