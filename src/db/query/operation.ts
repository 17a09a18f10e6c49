/**
 * Operations: each has a shape, which decides its SQL, and values, which do not. The SQL of a shape
 * is compiled once.
 *
 * @module
 */
import type { Compilable } from "kysely";
import {
  type CompiledStatement,
  fill,
  Slot,
  type Statement,
  type StatementResult,
} from "../connection/statement.ts";
import type { Table, TableColumn, Values } from "./table.ts";

/** The context of an operation. */
export interface OperationContext {
  /** The table that it reads or writes. */
  readonly table: Table;
  /**
   * The values that every row of the repository has; related rows, where their table
   * has the column.
   */
  readonly scope: Values;
  /** What the repository was called to do, for error messages: `"update users"`. */
  readonly action: string;
}

/** A statement on a table: built up part by part, then run. */
export class Operation implements OperationContext {
  readonly table: Table;
  readonly scope: Values;
  readonly action: string;
  /** Columns by name that are no columns of the table, if it has any. */
  others: ReadonlyMap<string, TableColumn> | undefined;
  readonly #values: unknown[];
  #time: Date | undefined;
  #shape: string;
  #conditions = 0;

  /**
   * Begins an operation; `name` begins its shape, and includes the number of `values`
   * already bound.
   */
  constructor(name: string, { table, scope, action }: OperationContext, values: unknown[] = []) {
    this.table = table;
    this.scope = scope;
    this.action = action;
    this.#values = values;
    this.#shape = `${name};`;
  }

  /** The number of values bound so far, with those of lists that drivers write into the SQL. */
  get size(): number {
    return this.#values.flat().length;
  }

  /** Returns the time of the operation, which is the same for all that it writes. */
  time(): Date {
    return this.#time ??= new Date(this.table.connection.now());
  }

  /** Counts conditions; returns how many the operation has. */
  countConditions(conditions: number): number {
    return this.#conditions += conditions;
  }

  /** Adds a part whose SQL binds nothing to the shape. Equal shapes have equal SQL. */
  add(part: string): void {
    this.#shape += part;
  }

  /** Begins a named part of the shape. The `;` separates it from columns of the same name. */
  section(name: string): void {
    this.#shape += `;${name} `;
  }

  /** Adds a part and the encoded value it binds; returns the value's place. */
  bind(part: string, value: unknown): Slot {
    this.#shape += part;
    return new Slot(this.#values.push(value) - 1);
  }

  /**
   * Returns a column of the table by a name that comes from the caller.
   *
   * @throws {TypeError} if it is unknown
   */
  column(name: string): TableColumn {
    return this.others?.get(name) ?? this.table.column(name, this.action);
  }

  /** Returns the error of a caller's mistake. */
  mistake(reason: string): TypeError {
    return new TypeError(`Cannot ${this.action}: ${reason}`);
  }

  /** Returns the statement of its shape, which the first operation of that shape compiles. */
  compiled(build: () => Compilable): CompiledStatement {
    return this.table.statement(this.#shape, build);
  }

  /**
   * Runs the statement of its shape with its values.
   *
   * @throws {RangeError} if it binds more values than the database takes
   * @throws {DbError} if it fails
   */
  run(build: () => Compilable): StatementResult | Promise<StatementResult> {
    return this.table.connection.execute(this.action, this.statement(build));
  }

  /**
   * Returns the statement of its shape with its values.
   *
   * @throws {RangeError} if it binds more values than the database takes
   */
  statement(build: () => Compilable): Statement {
    const { table, action } = this;
    const statement = fill(this.compiled(build), this.#values);
    const { maxParameters } = table.connection.grammar;
    const { length } = statement.parameters;
    if (length > maxParameters) {
      throw new RangeError(
        `Cannot ${action}: it has ${length} values, and the database takes ${maxParameters}`,
      );
    }
    return statement;
  }
}
