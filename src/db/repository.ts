/**
 * Repositories: what an application does with the rows of a model.
 *
 * @module
 */
import type { Compilable, Kysely } from "kysely";
import { every, uniqueFilter, whereFilter } from "./condition.ts";
import type { AnyTables } from "./connection.ts";
import { createAssignments, updateAssignments, type Values } from "./assignments.ts";
import { dbError } from "./errors.ts";
import type { AnyModel } from "./model.ts";
import { Operation } from "./operation.ts";
import { compareFilter, type Filter } from "./operators.ts";
import { readPage, type RowsQuery } from "./page.ts";
import type { ColumnName, ColumnValue, CreateInput, Row, UpdateInput } from "./row.ts";
import type { Table } from "./table.ts";
import type { FindManyOptions, UniqueWhere, Where } from "./where.ts";

/**
 * The rows of a model, or those of a scope. Every operation is one statement. Each fails with a
 * `DbError` if the database refuses, and with a `TypeError` if its arguments name unknown columns
 * or operators, or hold a value of another type: neither ever reaches the SQL.
 */
export class Repository<M extends AnyModel, S extends ColumnName<M> = never> {
  readonly #table: Table;
  readonly #scope: Values;

  /** Creates a repository of a table; a `DbService` has one for each of its models. */
  constructor(table: Table, scope: Values = new Map()) {
    this.#table = table;
    this.#scope = scope;
  }

  /**
   * Gives a repository of the rows that have these values. Whatever it is given, it reads and writes
   * no others; it creates rows with these values, and does not take or change them.
   *
   * @throws {TypeError} if there are no values, one is `null` or `undefined`, or a column is in the
   * scope already
   */
  scoped<K extends Exclude<ColumnName<M>, S>>(
    values: Pick<{ readonly [C in ColumnName<M>]: NonNullable<ColumnValue<M, C>> }, K>,
  ): Repository<M, S | K> {
    const action = `scope ${this.#table.name}`;
    const entries = Object.entries(values);
    if (entries.length === 0) throw new TypeError(`Cannot ${action}: no column is given`);
    const scope = new Map(this.#scope);
    for (const [name, value] of entries) {
      const column = this.#table.column(name, action);
      if (scope.has(column)) throw new TypeError(`Cannot ${action}: ${name} is scoped already`);
      column.encode(value, action);
      scope.set(column, value);
    }
    return new Repository<M, S | K>(this.#table, scope);
  }

  /** Creates a row and gives it as the database stores it. */
  async create({ data }: { readonly data: Omit<CreateInput<M>, S> }): Promise<Row<M>> {
    const operation = this.#operation("create");
    const assignments = createAssignments(data, this.#scope, this.#table, operation);
    const rows = await this.#rows(operation, () => {
      const insert = this.#kysely.insertInto(this.#table.name);
      const isEmpty = Object.keys(assignments).length === 0;
      return (isEmpty ? insert.defaultValues() : insert.values(assignments)).returning(
        this.#table.columnNames,
      );
    });
    return this.#one(rows, operation);
  }

  /** Finds the row with these values of unique columns; `null` if there is none. */
  async findUnique({ where }: { readonly where: UniqueWhere<M> }): Promise<Row<M> | null> {
    const operation = this.#operation("read");
    const filter = this.#unique(where, operation);
    const [row = null] = await this.#rows(operation, () => this.#select().where(filter));
    return row;
  }

  /** Finds the first row; by the primary key if no order is given. `null` if there is none. */
  async findFirst(options: Omit<FindManyOptions<M>, "take"> = {}): Promise<Row<M> | null> {
    const [row = null] = await this.findMany({ ...options, take: 1 });
    return row;
  }

  /**
   * Finds rows: all of them, if neither a condition nor a page is given.
   *
   * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
   */
  async findMany(options: FindManyOptions<M> = {}): Promise<Row<M>[]> {
    const operation = this.#operation("read");
    const filter = this.#where(options.where, operation);
    const page = readPage(options, this.#table, operation);
    return await this.#rows(operation, () => page(this.#select().where(filter)));
  }

  /**
   * Updates the row with these values of unique columns, and gives it as it is then. Without
   * anything to set, the row stays as it is.
   *
   * @throws {DbError} `RowNotFound` if there is none
   */
  async update({ where, data }: {
    readonly where: UniqueWhere<M>;
    readonly data: Omit<UpdateInput<M>, S>;
  }): Promise<Row<M>> {
    const operation = this.#operation("update");
    const assignments = updateAssignments(data, this.#scope, this.#table, operation);
    const filter = this.#unique(where, operation);
    const rows = await this.#rows(
      operation,
      () =>
        Object.keys(assignments).length === 0
          ? this.#select().where(filter)
          : this.#kysely.updateTable(this.#table.name).set(assignments).where(filter)
            .returning(this.#table.columnNames),
    );
    return this.#one(rows, operation);
  }

  /**
   * Deletes the row with these values of unique columns, and gives it as it was.
   *
   * @throws {DbError} `RowNotFound` if there is none
   */
  async delete({ where }: { readonly where: UniqueWhere<M> }): Promise<Row<M>> {
    const operation = this.#operation("delete");
    const filter = this.#unique(where, operation);
    const rows = await this.#rows(
      operation,
      () =>
        this.#kysely.deleteFrom(this.#table.name).where(filter).returning(this.#table.columnNames),
    );
    return this.#one(rows, operation);
  }

  /** Counts the rows. */
  async count({ where }: { readonly where?: Where<M> | undefined } = {}): Promise<number> {
    const operation = this.#operation("count");
    const filter = this.#where(where, operation);
    const [row] = await this.#table.run(
      operation,
      () =>
        this.#kysely.selectFrom(this.#table.name).where(filter)
          .select((eb) => eb.fn.countAll().as("count")),
    );
    return Number(row?.[0]);
  }

  /** Tells whether there is such a row. */
  async exists({ where }: { readonly where?: Where<M> | undefined } = {}): Promise<boolean> {
    const operation = this.#operation("look up");
    const filter = this.#where(where, operation);
    const rows = await this.#table.run(
      operation,
      () =>
        this.#kysely.selectFrom(this.#table.name).where(filter)
          .select((eb) => eb.lit(1).as("found")).limit(1),
    );
    return rows.length > 0;
  }

  get #kysely(): Kysely<AnyTables> {
    return this.#table.connection.kysely;
  }

  #select(): RowsQuery {
    return this.#kysely.selectFrom(this.#table.name).select(this.#table.columnNames);
  }

  /** Begins an operation; the verb is in its error messages. */
  #operation(verb: "create" | "read" | "update" | "delete" | "count" | "look up"): Operation {
    return new Operation(verb, `${verb} ${this.#table.name}`);
  }

  #where(where: unknown, operation: Operation): Filter {
    const filters = this.#scopeFilters(operation);
    if (where !== undefined) filters.push(whereFilter(where, this.#table, operation));
    return every(filters);
  }

  #unique(where: unknown, operation: Operation): Filter {
    const filters = this.#scopeFilters(operation);
    filters.push(uniqueFilter(where, this.#table, operation));
    return every(filters);
  }

  #scopeFilters(operation: Operation): Filter[] {
    const filters: Filter[] = [];
    for (const [column, value] of this.#scope) {
      filters.push(compareFilter(column, "=", value, operation));
    }
    return filters;
  }

  async #rows(operation: Operation, build: () => Compilable): Promise<Row<M>[]> {
    const rows = await this.#table.run(operation, build);
    // The table decodes each column to the type that the model gives it.
    return rows.map((row) => this.#table.decode(row) as Row<M>);
  }

  #one([row]: readonly Row<M>[], { action }: Operation): Row<M> {
    if (row === undefined) throw dbError(action, { code: "RowNotFound" });
    return row;
  }
}
