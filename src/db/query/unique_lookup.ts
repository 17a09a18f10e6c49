/**
 * Finds rows by one unique column: the most frequent operation, and so little work for the database
 * that here more is prepared once than the SQL.
 *
 * @module
 */
import { every, soleOperand, uniqueValues, valueFilters } from "./condition.ts";
import { Operation } from "../connection/operation.ts";
import { isPlainObject } from "../model/plain_object.ts";
import { readRows } from "./rows_query.ts";
import { type AnyRow, decodeRow, type Table, type TableColumn, type Values } from "./table.ts";

interface Lookup {
  readonly column: TableColumn;
  readonly sql: string;
}

/** Finds whole rows of a table, in a scope, by one unique column. */
export class Lookups {
  readonly #table: Table;
  readonly #scope: Values;
  readonly #action: string;
  readonly #scoped: readonly unknown[];
  /** By the name of the column; there are no more than the model has. */
  readonly #lookups = new Map<string, Lookup>();

  /** Binds a table and the values that every row has. */
  constructor(table: Table, scope: Values, action: string) {
    this.#table = table;
    this.#scope = scope;
    this.#action = action;
    this.#scoped = Array.from(scope, ([column, value]) => column.encode(value, action));
  }

  /** Tells whether it can find a row by a condition: one that names a column and no more. */
  takes(where: unknown): where is Readonly<Record<string, unknown>> {
    if (!isPlainObject(where)) return false;
    const names = Object.keys(where);
    return names.length === 1 && where[names[0]!] !== undefined;
  }

  /** Finds a row, or `null`. */
  async find(where: Readonly<Record<string, unknown>>): Promise<AnyRow | null> {
    const table = this.#table;
    const action = this.#action;
    const [name] = Object.keys(where) as [string];
    const { column, sql } = this.#lookups.get(name) ?? this.#prepare(name, where);
    const value = column.encode(soleOperand(where[name]), action);
    const result = table.connection.execute(action, {
      sql,
      parameters: [...this.#scoped, value],
      reads: true,
    });
    const { rows: [row] } = result instanceof Promise ? await result : result;
    return row === undefined ? null : decodeRow(row, table.columns);
  }

  #prepare(name: string, where: unknown): Lookup {
    const table = this.#table;
    const operation = new Operation("read", this.#action);
    const unique = uniqueValues(where, table, operation);
    // The values are bound in this order.
    const filters = [...valueFilters(this.#scope, operation), ...valueFilters(unique, operation)];
    const query = readRows({}, table.columns, every(filters), table, operation);
    const lookup = {
      column: table.column(name, this.#action),
      sql: table.statement(operation, query).sql,
    };
    this.#lookups.set(name, lookup);
    return lookup;
  }
}
