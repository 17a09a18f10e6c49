/**
 * Repositories: what an application does with the rows of a model.
 *
 * @module
 */
import {
  type Aggregated,
  type AggregateOptions,
  AGGREGATES,
  type GroupOptions,
  type NumericIn,
} from "./model/aggregate.ts";
import { createValues, namesRelation, updateValues } from "./write/assignments.ts";
import { givenFilters, targetValues, uniqueValues } from "./query/condition.ts";
import { constantOf, namesColumn } from "./query/constant_condition.ts";
import { drivenFilter, readDriven } from "./query/driven_rows.ts";
import { every, scopeFilters, uniqueFilter } from "./query/filters.ts";
import type { CheckedInclude, Found, Include, Reading } from "./model/include.ts";
import type { CheckedCreate, CheckedUpdate, CheckedUpsert } from "./model/nested.ts";
import type { Page, PageQuery } from "./model/page.ts";
import type { RelationGraph } from "./model/relation.ts";
import { UniqueLookups } from "./query/unique_lookup.ts";
import type { AnyModel } from "./model/model.ts";
import { type LockOptions, mentionsLock } from "./model/row_lock.ts";
import { Operation, type OperationContext } from "./query/operation.ts";
import type { Filter } from "./query/operators.ts";
import { checkOptions, isPlainObject } from "./model/plain_object.ts";
import { LIMIT_OPTIONS, type TimeLimits } from "./transaction/time_limits.ts";
import type {
  Checked,
  ColumnName,
  DeletedAtColumn,
  Named,
  Plain,
  Row,
  RowTypes,
  VersionColumn,
  WithDeleted,
} from "./model/row.ts";
import { countRows, type RowsOptions } from "./query/rows_query.ts";
import { dropUnselected, type PageOptions, readSelection } from "./query/find_options.ts";
import type { ReadBatch, RunBatch } from "./query/pages/row_stream.ts";
import type { Table } from "./query/table.ts";
import { type AnyRow, decodeRow } from "./query/table_column.ts";
import type {
  ComparableColumn,
  Conditions,
  FilterOptions,
  FindOptions,
  StreamOptions,
  UniqueConditions,
  VersionedConditions,
} from "./model/where.ts";
import type {
  ColumnSpecs,
  GraphSpecs,
  KeyColumns,
  MemberSpecs,
  NameIn,
  NoTables,
  TableSpecs,
} from "./model/column_spec.ts";
import { PLAIN_WRITES, type Writes } from "./write/row_writes.ts";
import { lazy } from "../platform/lazy.ts";

const aggregate = lazy(() => import("./query/aggregate.ts"));
const hookedWrites = lazy(() => import("./write/hooked_writes.ts"));
const includeQuery = lazy(() => import("./query/include_query.ts"));
const nestedWrites = lazy(() => import("./write/nested/nested_writes.ts"));
const readLock = lazy(() => import("./query/read_lock.ts"));
const rowPage = lazy(() => import("./query/pages/row_page.ts"));
const rowStream = lazy(() => import("./query/pages/row_stream.ts"));
const upsert = lazy(() => import("./write/upsert.ts"));

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

/** Which rows of a table a repository reads and writes. */
export type VisibleRows = Pick<OperationContext, "scope" | "seesDeleted">;

type Verb =
  | "create"
  | "read"
  | "list"
  | "update"
  | "upsert"
  | "delete"
  | "purge"
  | "count"
  | "look up"
  | "aggregate"
  | "group";

/** The options of an operation, the names that it knows, and whether it writes. */
interface Given {
  readonly options: TimeLimits;
  readonly known: readonly string[];
  readonly manner?: "limited" | "writing";
}

const READ_OPTIONS = ["where", "select", "include"];
const UNIQUE_OPTIONS = [...READ_OPTIONS, "lock", "skipLocked", "noWait"];
const FIRST_OPTIONS = [...UNIQUE_OPTIONS, "orderBy", "skip", "distinct"];
const MANY_OPTIONS = [...FIRST_OPTIONS, "take"];
const STREAM_OPTIONS = [...READ_OPTIONS, "orderBy", "skip", "take", "batchSize"];

/**
 * The rows of a model, or those of a scope. An operation fails with a `DbError` if the database
 * refuses it, or a value is of another type (`CheckViolation`, 422), and with a `TypeError` if its
 * arguments name unknown columns, relations or operators, or have a value that is `undefined`:
 * neither ever reaches the SQL. Inside `transaction` of its service it is part of that.
 */
export class Repository<
  M extends AnyModel,
  S extends ColumnName<M> | WithDeleted = DeletedAtColumn<M>,
  G extends RelationGraph = Record<never, never>,
> {
  readonly #table: Table;
  readonly #rows: VisibleRows;
  readonly #lookups: UniqueLookups;

  /** Creates a repository of a table; a `DbService` has one for each of its models. */
  constructor(table: Table, rows: VisibleRows = { scope: new Map(), seesDeleted: false }) {
    this.#table = table;
    this.#rows = rows;
    this.#lookups = new UniqueLookups(this.#context("read"));
  }

  /**
   * Returns a repository of the rows that have these values. It reads and writes no other rows; it
   * creates rows with these values, and data cannot set them. It reads only related rows that have
   * these values too, if their model has the columns.
   *
   * @throws {TypeError} if there are no values, one is `null` or `undefined`, or a column is in the
   * scope already, the version of rows, or of JSON
   */
  scoped<K extends Exclude<ComparableColumn<M>, S | DeletedAtColumn<M> | VersionColumn<M>>>(
    values: { [P in K]: RowTypes<M>["scope"][P] },
  ): Repository<M, S | K, G> {
    const action = `scope ${this.#table.name}`;
    const entries = Object.entries(values ?? {});
    if (entries.length === 0) throw new TypeError(`Cannot ${action}: no column is given`);
    const scope = new Map(this.#rows.scope);
    for (const [name, value] of entries) {
      const column = this.#table.column(name, action);
      if (column === this.#table.mark) {
        throw new TypeError(`Cannot ${action}: ${name} marks deleted rows`);
      }
      if (column === this.#table.version) {
        throw new TypeError(`Cannot ${action}: ${name} is the version of rows`);
      }
      if (scope.has(column)) throw new TypeError(`Cannot ${action}: ${name} is scoped already`);
      if (!column.rules.comparable) throw new TypeError(`Cannot ${action}: ${name} is JSON`);
      column.encode(value, action);
      scope.set(column, copyOf(value));
    }
    return new Repository<M, S | K, G>(this.#table, { ...this.#rows, scope });
  }

  /**
   * Returns a repository that also reads and writes the rows that are marked as deleted: those of
   * the model, and those of related models in `include`, counts, conditions and orders. Data can
   * set the column of the mark: `update({ where, data: { deleted_at: null } })` restores a row.
   */
  withDeleted(): Repository<M, Exclude<S, DeletedAtColumn<M>> | WithDeleted, G> {
    return new Repository<M, Exclude<S, DeletedAtColumn<M>> | WithDeleted, G>(this.#table, {
      ...this.#rows,
      seesDeleted: true,
    });
  }

  /**
   * Creates a row, and returns it as the database stores it. Data can name relations, whose rows
   * are created or connected with it, all or none.
   *
   * @throws {DbError} `RowNotFound` if a row to connect does not exist, or is out of scope
   */
  async create<D = RowTypes<M, S>["create"]>(
    options: { readonly data: CheckedCreate<D, M, G, S> } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    return await this.#write(
      "create",
      { options, known: ["data"] },
      async (operation, { insertRow }) =>
        rowOf(
          namesRelation(options.data, this.#table)
            ? await (await nestedWrites()).createNested(options.data, operation)
            : await insertRow(createValues(options.data, operation), operation),
        ),
    );
  }

  /**
   * Creates rows, all of them or none, and returns their number. With `skipDuplicates`, rows with a
   * value of a unique column that another row has are left out, and not counted.
   */
  async createMany<D = RowTypes<M, S>["create"]>(
    options: {
      readonly data: readonly Checked<D, RowTypes<M, S>["create"]>[];
      readonly skipDuplicates?: boolean | undefined;
    } & TimeLimits,
  ): Promise<number> {
    const known = ["data", "skipDuplicates"];
    return await this.#write(
      "create",
      { options, known },
      (operation, { createMany }) => createMany(options, operation),
    );
  }

  /**
   * Creates rows, all of them or none, and returns them as the database stores them, in the order
   * of the data.
   */
  async createManyAndReturn<D = RowTypes<M, S>["create"]>(
    options:
      & { readonly data: readonly Checked<D, RowTypes<M, S>["create"]>[] }
      & TimeLimits,
  ): Promise<RowTypes<M>["row"][]> {
    return await this.#write(
      "create",
      { options, known: ["data"] },
      async (operation, { createManyAndReturn }) =>
        (await createManyAndReturn(options.data, operation)).map(rowOf<M>),
    );
  }

  /** Finds the row with these values of unique columns; `null` if there is no row. */
  async findUnique<
    K extends RowTypes<M>["column"] = RowTypes<M>["column"],
    const I = Record<never, never>,
  >(
    options:
      & { readonly where: UniqueConditions<ColumnSpecs<M>["unique"]> }
      & Reading<K, CheckedInclude<I, Include<M, G>>>
      & LockOptions
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
      & LockOptions
      & TimeLimits = {},
  ): Promise<Found<M, G, K, I, S> | null> {
    checkOptions(options, [...FIRST_OPTIONS, ...LIMIT_OPTIONS], this.#context("read"));
    const [row = null] = await this.findMany<K, I>({ ...options, take: 1 });
    return row;
  }

  /**
   * Finds rows: all of them, if neither a condition nor a page is given. With `lock`, they are
   * locked until the end of the transaction that the call must be inside:
   * `{ lock: "update", skipLocked: true, take: 1 }` takes a job that no other worker has.
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
      & LockOptions
      & TimeLimits = {},
  ): Promise<Found<M, G, K, I, S>[]> {
    return await this.#run(
      "read",
      { options, known: MANY_OPTIONS },
      (operation) => this.#read<K, I>(options, this.#where(options, operation), operation),
    );
  }

  /**
   * Reads a page of rows: the query is the output of `listOf`, or written by hand. It begins after
   * the row at which a cursor was made, regardless of rows created or deleted since, so that a late
   * page costs as much as the first if an index has the columns of the order. A cursor is opaque,
   * but not secret: it contains the values of those columns. The condition of the options is met
   * too.
   *
   * @throws {DbError} `InvalidCursor` (400) if the cursor is invalid, or that of another order or
   * condition in the query; `Database` if a column of the order has values that its field cannot
   * represent, such as microseconds
   * @throws {RangeError} if `take` is not a whole number of 1 or more, or `skip` of 0 or more; or
   * the values of the order are too long for a cursor (4096 characters)
   */
  async page<
    K extends RowTypes<M>["column"] = RowTypes<M>["column"],
    const I = Record<never, never>,
  >(
    query: PageQuery<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>,
    options:
      & FilterOptions<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>
      & Reading<K, CheckedInclude<I, Include<M, G>>>
      & TimeLimits = {},
  ): Promise<Page<Found<M, G, K, I, S>>> {
    const page = await this.#run("list", { options, known: READ_OPTIONS }, async (operation) => {
      const { readRowPage } = await rowPage();
      const read = this.#batches(options, operation);
      const count = (counted: object) => this.count(counted);
      return await readRowPage(query, { options, read, count }, operation);
    });
    return page as Page<Found<M, G, K, I, S>>;
  }

  /**
   * Finds rows as `findMany` does, and yields them one by one, in the order of the primary key
   * unless another is given: `for await (const row of db.user.stream())`. Each statement reads up
   * to `batchSize` rows, 1000 by default, that come after those before, with their relations: the
   * order has columns only. Between statements no connection is in use, and other statements may
   * run. Each sees the commits before it, or those that its transaction sees. The limits in time
   * are those of each batch.
   *
   * @throws {DbError} `Database` if a column of the order has values that its field cannot
   * represent, such as microseconds: rows would come twice
   * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more, or `batchSize` of
   * 1 or more
   */
  async *stream<
    K extends RowTypes<M>["column"] = RowTypes<M>["column"],
    const I = Record<never, never>,
  >(
    options:
      & StreamOptions<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>
      & Reading<K, CheckedInclude<I, Include<M, G>>>
      & TimeLimits = {},
  ): AsyncGenerator<Found<M, G, K, I, S>, void, undefined> {
    const { streamRows } = await rowStream();
    const given = { options, known: STREAM_OPTIONS };
    const part = this.#table.connection.parts();
    const read: RunBatch = (work) =>
      this.#run("read", given, (operation) => work(operation, this.#batches(options, operation)));
    const rows = streamRows(options, (work) => part(() => read(work)));
    yield* rows as AsyncGenerator<Found<M, G, K, I, S>, void, undefined>;
  }

  /**
   * Updates the row with these values of unique columns, and returns the updated row. Without
   * columns to set, the row stays unchanged. Data can name relations, whose rows are connected,
   * disconnected or created with it, all or none. If the model has a `version()`, these increment
   * it too, and `where` can name the version that the row must have.
   *
   * @throws {DbError} `RowNotFound` if there is no such row, or a row to connect; `Conflict` if the
   * row has another version
   */
  async update<D = RowTypes<M, S>["update"]>(
    options: {
      readonly where:
        | UniqueConditions<ColumnSpecs<M>["unique"]>
        | VersionedConditions<ColumnSpecs<M>["unique"], VersionColumn<M>>;
      readonly data: CheckedUpdate<D, M, G, S>;
    } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    const known = ["where", "data"];
    return await this.#write("update", { options, known }, async (operation, { updateRow }) => {
      if (namesRelation(options.data, this.#table)) {
        return rowOf(await (await nestedWrites()).updateNested(options, operation));
      }
      const values = updateValues(options.data, operation);
      const unique = targetValues(options.where, operation);
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
    return await this.#write("update", { options, known }, async (operation, { updateMany }) => {
      const values = updateValues(options.data, operation);
      const filter = this.#many(options, operation);
      if (values.size === 0) return await this.count(options.all ? {} : { where: options.where });
      return await updateMany({ values, filter: await drivenFilter(filter, operation) }, operation);
    });
  }

  /** Updates rows as `updateMany` does, all of them or none, and returns them in any order. */
  async updateManyAndReturn<D = RowTypes<M, S>["update"]>(
    options: ManyOf<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]> & {
      readonly data: Checked<D, RowTypes<M, S>["update"]>;
    } & TimeLimits,
  ): Promise<RowTypes<M>["row"][]> {
    const known = ["where", "all", "data"];
    return await this.#write("update", { options, known }, async (operation, writes) => {
      const values = updateValues(options.data, operation);
      const filter = await drivenFilter(this.#many(options, operation), operation);
      return (await writes.updateManyAndReturn({ values, filter }, operation)).map(rowOf<M>);
    });
  }

  /**
   * Updates the row with this value of a unique column, or of a key, or creates it: of several
   * concurrent calls, one creates it and the others update it. The new row has the value, which
   * `create` may omit. With `update: {}`, a row that exists is read, and not locked. Transactions
   * that create the same rows in different orders wait for each other: one fails with
   * `SerializationFailure`. So does a transaction of PostgreSQL at `repeatable read` or stricter
   * whose snapshot lacks the row.
   *
   * @throws {TypeError} if `where` has more than one column or key, or `create` another value of it
   * @throws {DbError} `UniqueViolation` if another row has the value of another unique column, or
   * the row is out of scope
   */
  async upsert<
    K extends NameIn<ColumnSpecs<M>["unique"]>,
    C = RowTypes<M, S, KeyColumns<ColumnSpecs<M>["unique"], K>>["create"],
    U = RowTypes<M, S>["update"],
  >(
    options: {
      readonly where: UniqueConditions<ColumnSpecs<M>["unique"]> & Named<K>;
      readonly create: CheckedUpsert<C, M, G, S, KeyColumns<ColumnSpecs<M>["unique"], K>>;
      readonly update: CheckedUpdate<U, M, G, S>;
    } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    const known = ["where", "create", "update"];
    return await this.#write(
      "upsert",
      { options, known },
      async (operation, { upsertRow }) => {
        const { create, update } = options;
        if ([create, update].some((data) => namesRelation(data, this.#table))) {
          return rowOf(await (await nestedWrites()).upsertNested(options, operation));
        }
        const { readUpsert } = await upsert();
        return rowOf(await upsertRow(readUpsert(options, operation), operation));
      },
    );
  }

  /**
   * Creates rows, or updates those that have their values of a unique column or key: `by` names it,
   * and `update` the columns to set to what `create` has for them, or the default or `null`. All of
   * them are written or none. Returns their number.
   *
   * @throws {TypeError} if `update` names no column
   * @throws {DbError} `UniqueViolation` if two rows of `create` have the same value of `by`,
   * another row has the value of another unique column, or a row is out of scope
   */
  async upsertMany<D = RowTypes<M, S>["create"]>(
    options: {
      readonly by: NameIn<ColumnSpecs<M>["unique"]>;
      readonly create: readonly Checked<D, RowTypes<M, S>["create"]>[];
      readonly update: readonly (keyof RowTypes<M, S>["update"])[];
    } & TimeLimits,
  ): Promise<number> {
    const known = ["by", "create", "update"];
    return await this.#write(
      "upsert",
      { options, known },
      (operation, { upsertMany }) => upsertMany(options, operation),
    );
  }

  /**
   * Deletes the row with these values of unique columns, and returns the deleted row. If the model
   * has a `deletedAt()` column, the row is not deleted, but marked with the time, and hidden. The
   * references to it stay, regardless of their `onDelete`. If the model has a `version()`, `where`
   * can name the version that the row must have.
   *
   * @throws {DbError} `RowNotFound` if there is no such row, `Conflict` if it has another version
   */
  async delete(
    options: {
      readonly where:
        | UniqueConditions<ColumnSpecs<M>["unique"]>
        | VersionedConditions<ColumnSpecs<M>["unique"], VersionColumn<M>>;
    } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    return await this.#write(
      "delete",
      { options, known: ["where"] },
      async (operation, { deleteRow, markRow }) => {
        const unique = targetValues(options.where, operation);
        const { mark } = this.#table;
        const deleted = mark ? markRow({ unique, mark }, operation) : deleteRow(unique, operation);
        return rowOf(await deleted);
      },
    );
  }

  /**
   * Deletes the row with these values of unique columns for good, and returns it. A row that is
   * marked as deleted is found `withDeleted()` only. `where` can name a version, as in `delete`.
   *
   * @throws {DbError} `RowNotFound` if there is no such row, `Conflict` if it has another version
   */
  async purge(
    options: {
      readonly where:
        | UniqueConditions<ColumnSpecs<M>["unique"]>
        | VersionedConditions<ColumnSpecs<M>["unique"], VersionColumn<M>>;
    } & TimeLimits,
  ): Promise<RowTypes<M>["row"]> {
    return await this.#write(
      "purge",
      { options, known: ["where"] },
      async (operation, { deleteRow }) =>
        rowOf(await deleteRow(targetValues(options.where, operation), operation)),
    );
  }

  /**
   * Deletes the rows that meet a condition, and returns their number. To delete every row, pass
   * `all: true` instead: a condition without columns is an error, as is `{ id: { notIn: [] } }`,
   * which holds for every row. If the model has a `deletedAt()` column, the rows are marked, as by
   * `delete`.
   */
  async deleteMany(
    options:
      & ManyOf<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>
      & TimeLimits,
  ): Promise<number> {
    return await this.#write(
      "delete",
      { options, known: ["where", "all"] },
      async (operation, { deleteMany, markMany }) => {
        const filter = await drivenFilter(this.#many(options, operation), operation);
        const { mark } = this.#table;
        return await (mark ? markMany({ filter, mark }, operation) : deleteMany(filter, operation));
      },
    );
  }

  /**
   * Deletes rows as `deleteMany` does, but for good, and returns their number. Those that are
   * marked as deleted are found `withDeleted()` only.
   */
  async purgeMany(
    options:
      & ManyOf<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>
      & TimeLimits,
  ): Promise<number> {
    return await this.#write(
      "purge",
      { options, known: ["where", "all"] },
      async (operation, { deleteMany }) =>
        await deleteMany(await drivenFilter(this.#many(options, operation), operation), operation),
    );
  }

  /** Counts the rows; with `distinct`, the different combinations of values of its columns. */
  async count(
    options: FilterOptions<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]> & {
      readonly distinct?: readonly ComparableColumn<M>[] | undefined;
    } & TimeLimits = {},
  ): Promise<number> {
    return await this.#run(
      "count",
      { options, known: ["where", "distinct"] },
      async (operation) => {
        const { distinct } = options;
        const filter = await drivenFilter(this.#where(options, operation), operation);
        const { rows: [row] } = await operation.run(countRows({ distinct, filter }, operation));
        return Number(row?.[0]);
      },
    );
  }

  /**
   * Reads counts, sums, averages, and the least and greatest values of columns. Without values that
   * are not `null`, all but the counts are `null`. A sum of decimals has the scale of its column,
   * an average four more digits, rounded half away from zero; other averages are doubles.
   *
   * @throws {DbError} `CheckViolation` if a sum of integers is beyond ±(2^53 - 1), or another one
   * cannot be represented; a sum of bigints may have more than 64 bits
   */
  async aggregate<
    Sum extends NumericIn<ColumnSpecs<M>["all"]> = never,
    Avg extends NumericIn<ColumnSpecs<M>["all"]> = never,
    Min extends ComparableColumn<M> = never,
    Max extends ComparableColumn<M> = never,
    const C = never,
  >(
    options:
      & AggregateOptions<
        M["~model"]["table"],
        MemberSpecs<M, G>["all"],
        GraphSpecs<G>["all"],
        C,
        Sum,
        Avg,
        Min,
        Max
      >
      & TimeLimits,
  ): Promise<Plain<Aggregated<ColumnSpecs<M>["all"], C, Sum, Avg, Min, Max>>> {
    const known = ["where", ...AGGREGATES];
    const [row] = await this.#groups("aggregate", { options, known });
    // Each value is decoded to the type of its aggregate.
    return row as Plain<Aggregated<ColumnSpecs<M>["all"], C, Sum, Avg, Min, Max>>;
  }

  /**
   * Reads aggregates, as `aggregate` does, of each group of rows that have the same values of
   * columns.
   *
   * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
   */
  async groupBy<
    By extends ComparableColumn<M>,
    Sum extends NumericIn<ColumnSpecs<M>["all"]> = never,
    Avg extends NumericIn<ColumnSpecs<M>["all"]> = never,
    Min extends ComparableColumn<M> = never,
    Max extends ComparableColumn<M> = never,
    const C = never,
  >(
    options:
      & GroupOptions<
        M["~model"]["table"],
        MemberSpecs<M, G>["all"],
        GraphSpecs<G>["all"],
        By,
        C,
        Sum,
        Avg,
        Min,
        Max
      >
      & TimeLimits,
  ): Promise<
    Plain<
      & Pick<RowTypes<M>["row"], By>
      & Aggregated<ColumnSpecs<M>["all"], C, Sum, Avg, Min, Max>
    >[]
  > {
    const known = ["by", "where", "having", "orderBy", "take", "skip", ...AGGREGATES];
    const groups = await this.#groups("group", { options, known });
    return groups as Plain<
      & Pick<RowTypes<M>["row"], By>
      & Aggregated<ColumnSpecs<M>["all"], C, Sum, Avg, Min, Max>
    >[];
  }

  /** Checks whether there is a row that meets a condition. */
  async exists(
    options:
      & FilterOptions<M["~model"]["table"], MemberSpecs<M, G>["all"], GraphSpecs<G>["all"]>
      & TimeLimits = {},
  ): Promise<boolean> {
    return await this.#run("look up", { options, known: ["where"] }, async (operation) => {
      const met = this.#where(options, operation);
      const filter = await drivenFilter(met, operation, { isPage: true });
      const { kysely } = this.#table.connection;
      const { rows } = await operation.run(
        () =>
          kysely.selectFrom(this.#table.source).where(filter)
            .select((eb) => eb.lit(1).as("found")).limit((eb) => eb.lit(1)),
      );
      return rows.length > 0;
    });
  }

  async #groups(
    verb: Verb,
    given: { readonly options: PageOptions & TimeLimits; readonly known: readonly string[] },
  ): Promise<AnyRow[]> {
    return await this.#run(verb, given, async (operation) => {
      const { readGroups } = await aggregate();
      return await readGroups({ ...given.options, isGrouped: verb === "group" }, operation);
    });
  }

  /** Returns what reads the rows that meet the options and other conditions. */
  #batches(
    options: Reading<string, unknown> & { readonly where?: unknown },
    operation: Operation,
  ): ReadBatch {
    return (batch, after) => {
      const filter = every([this.#where(options, operation), ...after]);
      const reading = { ...batch, include: options.include } as Reading<ColumnName<M>, unknown>;
      return this.#read(reading, filter, operation);
    };
  }

  /** Runs an operation that writes; see `#run`. */
  async #write<T>(
    verb: Verb,
    given: Given,
    work: (operation: Operation, writes: Writes) => Promise<T>,
  ): Promise<T> {
    return await this.#run(verb, { ...given, manner: "writing" }, async (operation) => {
      if (this.#table.primaryKey.length === 0) {
        throw operation.mistake("the model has no key, and is read-only");
      }
      const writes = this.#table.hooks ? (await hookedWrites()).HOOKED_WRITES : PLAIN_WRITES;
      return await work(operation, writes);
    });
  }

  /**
   * Runs an operation with options of known names, within their limits in time; the verb is in its
   * error messages.
   */
  async #run<T>(
    verb: Verb,
    { options, known, manner = "limited" }: Given,
    work: (operation: Operation) => Promise<T>,
  ): Promise<T> {
    const context = this.#context(verb);
    checkOptions(options, [...known, ...LIMIT_OPTIONS], context);
    const operation = new Operation(verb, context);
    return await this.#table.connection[manner](options, () => work(operation));
  }

  #context(verb: Verb): OperationContext {
    return { table: this.#table, ...this.#rows, action: `${verb} ${this.#table.name}` };
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
    if (constantOf(where, operation) !== true) return filter;
    throw operation.mistake("where holds for every row; for that, pass all: true alone");
  }

  async #read<K extends ColumnName<M>, I>(
    options:
      & PageOptions
      & Pick<RowsOptions, "order" | "distinct">
      & Reading<K, unknown>
      & LockOptions,
    filter: Filter,
    operation: Operation,
  ): Promise<Found<M, G, K, I, S>[]> {
    const { select, include } = options;
    const inclusions = include === undefined
      ? []
      : (await includeQuery()).readInclude(include, operation);
    const columns = readSelection(
      { select, needed: inclusions.flatMap(({ needed }) => needed) },
      operation,
    );
    const locked = mentionsLock(options)
      ? await (await readLock()).readLock(options, operation)
      : undefined;
    const query = await readDriven({ ...options, columns, filter, locked }, operation);
    const { rows } = await operation.run(query);
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
