/**
 * Operations: each has a shape, which decides its SQL, and values, which do not. The SQL of a shape
 * is compiled once.
 *
 * @module
 */
import type { Compilable, ExpressionBuilder, SelectQueryBuilder } from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import {
  compile,
  type CompiledStatement,
  fill,
  Slot,
  type Statement,
  type StatementResult,
} from "../connection/statement.ts";
import type { Table, TableRelation } from "./table.ts";
import type { TableColumn, Values } from "./table_column.ts";

/** A client may have written the relations of an operation: each is a subquery. */
const MAX_DEPTH = 8;
/** PostgreSQL plans and compiles 100 for 10 s. */
const MAX_RELATIONS = 30;

/** The context of an operation. */
export interface OperationContext {
  /** The table that it reads or writes. */
  readonly table: Table;
  /**
   * The values that every row of the repository has; related rows, where their table
   * has the column.
   */
  readonly scope: Values;
  /** Whether rows that are marked as deleted are read and written; otherwise they are hidden. */
  readonly seesDeleted: boolean;
  /** What the repository was called to do, for error messages: `"update users"`. */
  readonly action: string;
}

/** Returns the context of rows that are found by their keys: without a scope, marked ones too. */
export function unscoped({ table, action }: OperationContext): OperationContext {
  return { table, scope: new Map(), seesDeleted: true, action };
}

/** The parts of an operation that its subqueries share. */
interface Parts {
  readonly values: unknown[];
  /** The table that the statement writes, if it writes one. */
  readonly target: Table;
  shape: string;
  conditions: number;
  relations: number;
  readsTarget: boolean;
  /** Whether equal shapes have equal SQL. */
  isShared: boolean;
}

/** A condition on related rows, by which a query can find its rows. */
export interface DrivingCondition {
  /** The relation. */
  readonly relation: TableRelation;
  /** Builds the query of the values of the relation's column. */
  readonly keys: (
    eb: ExpressionBuilder<AnyTables, string>,
  ) => SelectQueryBuilder<AnyTables, string, Record<string, unknown>>;
  /** Whether the condition is written so that the database only checks it row by row. */
  isRowByRow: boolean;
}

/** How a subquery refers to the operation around it. */
export interface SubqueryOptions {
  /** Begins the part of the shape. */
  readonly name: string;
  /** Whether the rows are those of a join table, which are no level of their own. */
  readonly isLink: boolean;
}

/** A statement on a table: built up part by part, then run. */
export class Operation implements OperationContext {
  readonly table: Table;
  readonly scope: Values;
  readonly seesDeleted: boolean;
  readonly action: string;
  /** Columns by name beside those of the table; a subquery has none. */
  others: ReadonlyMap<string, TableColumn> | undefined;
  /** The conditions on related rows that all rows meet. */
  readonly driving: DrivingCondition[] = [];
  /** Whether it has a condition on many related rows, which the database may join. */
  joinsMany = false;
  /** The columns whose equality with a value is written as a range of one value. */
  ranged: ReadonlySet<TableColumn> | undefined;
  /** The name of its rows in the SQL: that of the table, unless an outer query has it. */
  readonly rows: string;
  readonly #parts: Parts;
  readonly #outer: Operation | undefined;
  readonly #depth: number;
  #time: Date | undefined;

  /**
   * Begins an operation; `name` begins its shape, and includes the number of `values`
   * already bound.
   */
  constructor(
    name: string,
    { table, scope, seesDeleted, action }: OperationContext,
    { values = [], outer, depth = 0, time }: {
      readonly values?: unknown[];
      readonly time?: Date;
      readonly outer?: Operation;
      readonly depth?: number;
    } = {},
  ) {
    this.table = table;
    this.scope = scope;
    this.seesDeleted = seesDeleted;
    this.action = action;
    this.#outer = outer;
    this.#depth = depth;
    this.#time = time;
    this.rows = outer && outer.#reads(table) ? `~${outer.#level + 1}` : table.rows;
    this.#parts = outer ? outer.#parts : {
      values,
      target: table,
      shape: "",
      conditions: 0,
      relations: 0,
      readsTarget: false,
      isShared: true,
    };
    this.add(`${name};`);
  }

  /** The number of values bound so far, with those of lists that drivers write into the SQL. */
  get size(): number {
    return this.#parts.values.flat().length;
  }

  /** Whether its shape determines its SQL. */
  get isShared(): boolean {
    return this.#parts.isShared;
  }

  /** Whether a subquery reads the table of the operation. */
  get readsTarget(): boolean {
    return this.#parts.readsTarget;
  }

  /**
   * Begins a subquery of rows of a table; see {@linkcode SubqueryOptions}.
   *
   * @throws {TypeError} if it is over 8 relations deep, or the operation has over 30
   */
  within(table: Table, { name, isLink }: SubqueryOptions): Operation {
    const parts = this.#parts;
    const depth = isLink ? this.#depth : this.#depth + 1;
    if (depth > MAX_DEPTH) throw this.mistake(`relations are nested over ${MAX_DEPTH} levels deep`);
    if (!isLink) parts.relations += 1;
    if (parts.relations > MAX_RELATIONS) {
      throw this.mistake(`it has over ${MAX_RELATIONS} relations`);
    }
    if (table === parts.target) parts.readsTarget = true;
    const { scope, seesDeleted, action } = this;
    return new Operation(name, { table, scope, seesDeleted, action }, { outer: this, depth });
  }

  /** Returns the time of the operation, which is the same for all that it writes. */
  time(): Date {
    return this.#time ??= new Date(this.table.connection.now());
  }

  /** Counts conditions; returns how many the operation has. */
  countConditions(conditions: number): number {
    return this.#parts.conditions += conditions;
  }

  /** Adds a part whose SQL binds nothing to the shape. Equal shapes have equal SQL. */
  add(part: string): void {
    this.#parts.shape += part;
  }

  /** Adds SQL that the shape does not determine, and that may read any table. */
  addUnknown(): void {
    this.#parts.isShared = false;
    this.#parts.readsTarget = true;
  }

  /** Begins a named part of the shape. The `;` separates it from columns of the same name. */
  section(name: string): void {
    this.add(`;${name} `);
  }

  /** Adds a part and the encoded value it binds; returns the value's place. */
  bind(part: string, value: unknown): Slot {
    this.add(part);
    return new Slot(this.#parts.values.push(value) - 1);
  }

  /**
   * Returns a column of the table by a name that comes from the caller.
   *
   * @throws {TypeError} if it is unknown
   */
  column(name: string): TableColumn {
    return this.others?.get(name) ?? this.table.column(name, this.action);
  }

  /** Returns the name of a column in the SQL; in a subquery, a join table may have it too. */
  ref({ column }: TableColumn): string {
    return this.#outer ? `${this.rows}.${column}` : column;
  }

  /** Returns the error of a caller's mistake. */
  mistake(reason: string): TypeError {
    return new TypeError(`Cannot ${this.action}: ${reason}`);
  }

  /**
   * Returns the statement of its shape, which the first operation of that shape compiles; with
   * unknown SQL, each operation compiles its own.
   */
  compiled(build: () => Compilable): CompiledStatement {
    const { isShared, shape } = this.#parts;
    return isShared ? this.table.statement(shape, build) : compile(build());
  }

  /** Whether rows can be found from related ones, where that is not left to the database. */
  get isDriven(): boolean {
    // A function of Kysely may refer to the rows around it.
    return this.isShared && this.driving.length > 0 &&
      this.table.connection.grammar.among !== undefined;
  }

  /** Runs another statement of the values that are bound so far; `name` distinguishes its shape. */
  runBeside(name: string, build: () => Compilable): StatementResult | Promise<StatementResult> {
    const { table, action } = this;
    const { shape, values } = this.#parts;
    const compiled = table.statement(`${name} of ${shape}`, build);
    return table.execute(action, fill(compiled, values));
  }

  /**
   * Runs the statement of its shape with its values.
   *
   * @throws {RangeError} if it binds more values than the database takes
   * @throws {DbError} if it fails
   */
  run(build: () => Compilable): StatementResult | Promise<StatementResult> {
    return this.table.execute(this.action, this.statement(build));
  }

  /**
   * Returns the statement of its shape with its values.
   *
   * @throws {RangeError} if it binds more values than the database takes
   */
  statement(build: () => Compilable): Statement {
    const { table, action } = this;
    const statement = fill(this.compiled(build), this.#parts.values);
    const { maxParameters } = table.connection.grammar;
    const { length } = statement.parameters;
    if (length > maxParameters) {
      throw new RangeError(
        `Cannot ${action}: it has ${length} values, and the database takes ${maxParameters}`,
      );
    }
    return statement;
  }

  /** How many queries are around it. */
  get #level(): number {
    return this.#outer ? this.#outer.#level + 1 : 0;
  }

  /** Checks whether it, or one around it, reads a table. */
  #reads(table: Table): boolean {
    return this.table.rows === table.rows ||
      (this.#outer !== undefined && this.#outer.#reads(table));
  }
}
