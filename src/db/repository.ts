/**
 * Repositories: what an application does with the rows of a model.
 *
 * @module
 */
import { assign, createTuple, createValues, updateValues } from "./write/assignments.ts";
import { givenFilters, uniqueValues } from "./query/condition.ts";
import { constantOf, namesColumn } from "./query/constant_condition.ts";
import { every, scopeFilters, targetFilter, uniqueFilter } from "./query/filters.ts";
import type { CheckedInclude, Found, Include, Reading } from "./model/include.ts";
import type { RelationGraph } from "./model/relation.ts";
import { UniqueLookups } from "./query/unique_lookup.ts";
import { insertRow, insertRows } from "./write/inserts.ts";
import type { AnyModel } from "./model/model.ts";
import { Operation, type OperationContext } from "./query/operation.ts";
import type { Filter } from "./query/operators.ts";
import { checkOptions, isPlainObject } from "./model/plain_object.ts";
import { keyOf, readInclude } from "./query/include_query.ts";
import { LIMIT_OPTIONS, type TimeLimits } from "./transaction/time_limits.ts";
import type { Checked, CheckedPart, ColumnName, Named, Row, RowTypes } from "./model/row.ts";
import { countRows, readRows } from "./query/rows_query.ts";
import { dropUnselected, type PageOptions, readSelection } from "./query/find_options.ts";
import { type AnyRow, decodeRow, type Table, type Values } from "./query/table.ts";
import type { ComparableColumn, Conditions, FindOptions, UniqueConditions } from "./model/where.ts";
import type {
  ColumnSpecs,
  GraphSpecs,
  MemberSpecs,
  NameIn,
  NoTables,
  TableSpecs,
} from "./model/column_spec.ts";
import { deleteRow, updateRow, upsertRow } from "./write/writes.ts";

/** Which rows to write: those that meet a condition, or explicitly all of them. */
export type ManyRows<M extends AnyModel> = ManyOf<
  M["~model"]["table"],
  MemberSpecs<M, Record<never, never>>["all"]
>;

/** Which rows to write; see {@linkcode ManyRows}. */
export type ManyOf<
  T extends string,
  Spec extends string,
  W extends TableSpecs = NoTables,
> =
  | { readonly where: Conditions<T, Spec, W>; readonly all?: undefined }
  | { readonly where?: undefined; readonly all: true };

type Verb = "create" | "read" | "update" | "upsert" | "delete" | "count" | "look up";

const UNIQUE_OPTIONS = ["where", "select", "include"];
const FIRST_OPTIONS = [...UNIQUE_OPTIONS, "orderBy", "skip", "distinct"];
const MANY_OPTIONS = [...FIRST_OPTIONS, "take"];

/**
 * The rows of a model, or those of a scope. An operation fails with a `DbError` if the database
 * refuses it, or a value is of another type (`CheckViolation`, 422), and with a `TypeError` if its
 * arguments name unknown columns, relations or operators, or have a value that is `undefined`:
 * neither ever reaches the SQL. Inside `transaction` of its service it is part of that.
 */
export class Repository<
  M extends AnyModel,
  S extends ColumnName<M> = never,
  G extends RelationGraph = Record<never, never>,
> {
  readonly #table: Table;
  readonly #scope: Values;
  readonly #lookups: UniqueLookups;

  /** Creates a repository of a table; a `DbService` has one for each of its models. */
  constructor(table: Table, scope: Values = new Map()) {
    this.#table = table;
    this.#scope = scope;
    this.#lookups = new UniqueLookups(this.#context("read"));
  }

  /**
   * Returns a repository of the rows that have these values. It reads and writes no other rows; it
   * creates rows with these values, and data cannot set them. It reads only related rows that have
   * these values too, if their model has the columns.
   *
   * @throws {TypeError} if there are no values, one is `null` or `undefined`, or a column is in the
   * scope already, or of JSON
   */
  scoped<K extends Exclude<ComparableColumn<M>, S>>(
    values: { [P in K]: RowTypes<M>["scope"][P] },
  ): Repository<M, S | K, G> {
    const action = `scope ${this.#table.name}`;
    const entries = Object.entries(values);
    if (entries.length === 0) throw new TypeError(`Cannot ${action}: no column is given`);
    const scope = new Map(this.#scope);
    for (const [name, value] of entries) {
      const column = this.#table.column(name, action);
      if (scope.has(column)) throw new TypeError(`Cannot ${action}: ${name} is scoped already`);
      if (!column.rules.comparable) throw new TypeError(`Cannot ${action}: ${name} is JSON`);
      column.encode(value, action);
      scope.set(column, copyOf(value));
    }
    return new Repository<M, S | K, G>(this.#table, scope);
  }

  /** Creates a row, and returns it as the database stores it. */
  async create<D = RowTypes<M, S>["create"]>(
    options: { readonly data: Checked<D, RowTypes<M, S>["create"]> } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    return await this.#run(
      "create",
      { options, known: ["data"] },
      async (operation) => rowOf(await insertRow(createValues(options.data, operation), operation)),
    );
  }

  /** Creates rows, all of them or none, and returns their number. */
  async createMany<D = RowTypes<M, S>["create"]>(
    options: { readonly data: readonly Checked<D, RowTypes<M, S>["create"]>[] } & TimeLimits,
  ): Promise<number> {
    return await this.#run("create", { options, known: ["data"] }, async (operation) => {
      const { data } = options;
      if (!Array.isArray(data)) throw operation.mistake("data is not a list");
      const rows: (readonly unknown[])[] = [];
      for (const row of data) rows.push(createTuple(row, operation));
      await insertRows(rows, operation);
      return rows.length;
    });
  }

  /** Finds the row with these values of unique columns; `null` if there is no row. */
  async findUnique<
    K extends RowTypes<M>["column"] = RowTypes<M>["column"],
    const I = Record<never, never>,
  >(
    options:
      & { readonly where: UniqueConditions<ColumnSpecs<M>["unique"]> }
      & Reading<K, CheckedInclude<I, Include<M, G>>>
      & TimeLimits,
  ): Promise<Found<M, G, K, I, S> | null> {
    if (namesOnlyWhere(options) && this.#lookups.takes(options.where)) {
      // Without a selection and relations, the result is the whole row.
      return await this.#lookups.find(options.where) as Found<M, G, K, I, S> | null;
    }
    return await this.#run("read", { options, known: UNIQUE_OPTIONS }, async (operation) => {
      const filter = uniqueFilter(uniqueValues(options.where, operation), operation);
      const [row = null] = await this.#read<K, I>(options, filter, operation);
      return row;
    });
  }

  /** Finds the first row; by the primary key if no order is given. `null` if there is no row. */
  async findFirst<
    K extends RowTypes<M>["column"] = RowTypes<M>["column"],
    const I = Record<never, never>,
  >(
    options:
      & Omit<
        FindOptions<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>,
        "take"
      >
      & Reading<K, CheckedInclude<I, Include<M, G>>>
      & TimeLimits = {},
  ): Promise<Found<M, G, K, I, S> | null> {
    checkOptions(options, [...FIRST_OPTIONS, ...LIMIT_OPTIONS], this.#context("read"));
    const [row = null] = await this.findMany<K, I>({ ...options, take: 1 });
    return row;
  }

  /**
   * Finds rows: all of them, if neither a condition nor a page is given.
   *
   * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
   */
  async findMany<
    K extends RowTypes<M>["column"] = RowTypes<M>["column"],
    const I = Record<never, never>,
  >(
    options:
      & FindOptions<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>
      & Reading<K, CheckedInclude<I, Include<M, G>>>
      & TimeLimits = {},
  ): Promise<Found<M, G, K, I, S>[]> {
    return await this.#run(
      "read",
      { options, known: MANY_OPTIONS },
      (operation) => this.#read<K, I>(options, this.#where(options, operation), operation),
    );
  }

  /**
   * Updates the row with these values of unique columns, and returns the updated row. Without
   * columns to set, the row stays unchanged.
   *
   * @throws {DbError} `RowNotFound` if there is no such row
   */
  async update<D = RowTypes<M, S>["update"]>(
    options: {
      readonly where: UniqueConditions<ColumnSpecs<M>["unique"]>;
      readonly data: Checked<D, RowTypes<M, S>["update"]>;
    } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    return await this.#run("update", { options, known: ["where", "data"] }, async (operation) => {
      const values = updateValues(options.data, operation);
      const unique = uniqueValues(options.where, operation);
      return rowOf(await updateRow({ unique, values }, operation));
    });
  }

  /**
   * Updates the rows that meet a condition, and returns their number. To update every row, pass
   * `all: true` instead: a condition without columns is an error, as is `{ id: { notIn: [] } }`,
   * which holds for every row.
   */
  async updateMany<D = RowTypes<M, S>["update"]>(
    options: ManyOf<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]> & {
      readonly data: Checked<D, RowTypes<M, S>["update"]>;
    } & TimeLimits,
  ): Promise<number> {
    const known = ["where", "all", "data"];
    return await this.#run("update", { options, known }, async (operation) => {
      const values = updateValues(options.data, operation);
      const filter = this.#many(options, operation);
      if (values.size === 0) return await this.count(options.all ? {} : { where: options.where });
      operation.section("many");
      const assignments = assign(values, operation);
      const { kysely } = this.#table.connection;
      const { affectedRows } = await operation.run(
        () => kysely.updateTable(this.#table.name).set(assignments).where(filter),
      );
      return affectedRows;
    });
  }

  /**
   * Updates the row with this value of a unique column, or creates it: of several concurrent calls,
   * one creates it and the others update it. The new row has the value, which `create` may omit.
   * With `update: {}`, a row that exists is read, and not locked. Transactions that create the same
   * rows in different orders wait for each other: one fails with `SerializationFailure`. So does a
   * transaction of PostgreSQL at `repeatable read` or stricter whose snapshot lacks the row.
   *
   * @throws {TypeError} if `where` has more than one column, or `create` another value of it
   * @throws {DbError} `UniqueViolation` if another row has the value of another unique column, or
   * the row is out of scope
   */
  async upsert<
    K extends NameIn<ColumnSpecs<M>["unique"]>,
    C = RowTypes<M, S, K>["create"],
    U = RowTypes<M, S>["update"],
  >(
    options: {
      readonly where: UniqueConditions<ColumnSpecs<M>["unique"]> & Named<K>;
      readonly create: CheckedPart<C, RowTypes<M, S>["create"], RowTypes<M, S, K>["create"]>;
      readonly update: Checked<U, RowTypes<M, S>["update"]>;
    } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    const known = ["where", "create", "update"];
    return await this.#run(
      "upsert",
      { options, known },
      (operation) => this.#upsert(options, operation),
    );
  }

  /**
   * Deletes the row with these values of unique columns, and returns the deleted row.
   *
   * @throws {DbError} `RowNotFound` if there is no such row
   */
  async delete(
    options: { readonly where: UniqueConditions<ColumnSpecs<M>["unique"]> } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    return await this.#run(
      "delete",
      { options, known: ["where"] },
      async (operation) =>
        rowOf(await deleteRow(uniqueValues(options.where, operation), operation)),
    );
  }

  /**
   * Deletes the rows that meet a condition, and returns their number. To delete every row, pass
   * `all: true` instead: a condition without columns is an error, as is `{ id: { notIn: [] } }`,
   * which holds for every row.
   */
  async deleteMany(
    options:
      & ManyOf<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>
      & TimeLimits,
  ): Promise<number> {
    return await this.#run("delete", { options, known: ["where", "all"] }, async (operation) => {
      operation.section("many");
      const filter = this.#many(options, operation);
      const { kysely } = this.#table.connection;
      const { affectedRows } = await operation.run(
        () => kysely.deleteFrom(this.#table.name).where(filter),
      );
      return affectedRows;
    });
  }

  /** Counts the rows; with `distinct`, the different combinations of values of its columns. */
  async count(options: {
    readonly where?: Conditions<
      M["~model"]["table"],
      MemberSpecs<M, G>["all"],
      GraphSpecs<G>["all"]
    >;
    readonly distinct?: readonly ComparableColumn<M>[] | undefined;
  } & TimeLimits = {}): Promise<number> {
    return await this.#run(
      "count",
      { options, known: ["where", "distinct"] },
      async (operation) => {
        const { distinct } = options;
        const filter = this.#where(options, operation);
        const { rows: [row] } = await operation.run(countRows({ distinct, filter }, operation));
        return Number(row?.[0]);
      },
    );
  }

  /** Checks whether there is a row that meets a condition. */
  async exists(
    options:
      & {
        readonly where?: Conditions<
          M["~model"]["table"],
          MemberSpecs<M, G>["all"],
          GraphSpecs<G>["all"]
        >;
      }
      & TimeLimits = {},
  ): Promise<boolean> {
    return await this.#run("look up", { options, known: ["where"] }, async (operation) => {
      const filter = this.#where(options, operation);
      const { kysely } = this.#table.connection;
      const { rows } = await operation.run(
        () =>
          kysely.selectFrom(this.#table.name).where(filter)
            .select((eb) => eb.lit(1).as("found")).limit((eb) => eb.lit(1)),
      );
      return rows.length > 0;
    });
  }

  async #upsert(
    { where, create, update }: { where: unknown; create: unknown; update: unknown },
    operation: Operation,
  ): Promise<Row<M>> {
    const unique = uniqueValues(where, operation);
    const [[column, value] = []] = unique;
    if (column === undefined || unique.size > 1) {
      throw operation.mistake("where has more than one column");
    }
    const given = isPlainObject(create) ? create[column.name] : undefined;
    if (given !== undefined && keyOf(column, given) !== keyOf(column, value)) {
      throw operation.mistake(`create has another ${column.name} than where`);
    }
    const data = isPlainObject(create) ? { ...create, [column.name]: value } : create;
    const created = createValues(data, operation);
    const values = updateValues(update, operation);
    return rowOf(await upsertRow({ unique, created, values }, operation));
  }

  /**
   * Runs an operation with options of known names, within their limits in time; the verb is in its
   * error messages.
   */
  async #run<T>(
    verb: Verb,
    { options, known }: { readonly options: TimeLimits; readonly known: readonly string[] },
    work: (operation: Operation) => Promise<T>,
  ): Promise<T> {
    const context = this.#context(verb);
    checkOptions(options, [...known, ...LIMIT_OPTIONS], context);
    const operation = new Operation(verb, context);
    return await this.#table.connection.limited(options, () => work(operation));
  }

  #context(verb: Verb): OperationContext {
    return { table: this.#table, scope: this.#scope, action: `${verb} ${this.#table.name}` };
  }

  #where(options: { readonly where?: unknown }, operation: Operation): Filter {
    return every([...scopeFilters(operation), ...givenFilters(options, operation)]);
  }

  #many({ where, all }: { where?: unknown; all?: unknown }, operation: Operation): Filter {
    if (all === true && where === undefined) return this.#where({}, operation);
    const filter = this.#where({ where: where ?? {} }, operation);
    if (all !== undefined || !namesColumn(where)) {
      throw operation.mistake("where names no column; for every row, pass all: true alone");
    }
    if (constantOf(where, operation) !== true) return targetFilter(filter, operation);
    throw operation.mistake("where holds for every row; for that, pass all: true alone");
  }

  async #read<K extends ColumnName<M>, I>(
    options: PageOptions & { readonly distinct?: unknown } & Reading<K, unknown>,
    filter: Filter,
    operation: Operation,
  ): Promise<Found<M, G, K, I, S>[]> {
    const { select, include } = options;
    const inclusions = readInclude(include, operation);
    const columns = readSelection({ select, needed: inclusions.map(({ own }) => own) }, operation);
    const { rows } = await operation.run(readRows({ ...options, columns, filter }, operation));
    const read = rows.map((row) => decodeRow(row, columns));
    for (const inclusion of inclusions) await inclusion.addTo(read);
    dropUnselected(read, { select, columns });
    // The table decodes each column to the type that the model declares for it.
    return read as Found<M, G, K, I, S>[];
  }
}

/** Checks whether options consist of `where`; others are checked one by one. */
function namesOnlyWhere(options: unknown): boolean {
  return isPlainObject(options) && "where" in options && Object.keys(options).length === 1;
}

/** Copies a value that its owner can change: a scope is the same for all operations. */
function copyOf(value: unknown): unknown {
  if (value instanceof Date) return new Date(value);
  return value instanceof Uint8Array ? Uint8Array.from(value) : value;
}

function rowOf<M extends AnyModel>(row: AnyRow): Row<M> {
  // The table decodes each column to the type that the model declares for it.
  return row as Row<M>;
}
