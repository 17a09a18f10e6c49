/**
 * Finds rows by one unique column: the most frequent operation, and so little work for the database
 * that more than the SQL is prepared once here.
 *
 * @module
 */
import { isPlainObject } from "../model/plain_object.ts";
import { every, soleOperand, uniqueValues, valueFilters } from "./condition.ts";
import { Operation, type OperationContext } from "./operation.ts";
import { readRows } from "./rows_query.ts";
import { type AnyRow, decodeRow, type TableColumn } from "./table.ts";

interface Lookup {
  readonly column: TableColumn;
  readonly sql: string;
}

/** Finds whole rows of a table, in a scope, by one unique column. */
export class Lookups {
  readonly #context: OperationContext;
  readonly #scoped: readonly unknown[];
  /** By the name of the column: at most as many as the model has. */
  readonly #lookups = new Map<string, Lookup>();

  /** Creates lookups, which have prepared nothing yet. */
  constructor(context: OperationContext) {
    this.#context = context;
    const { scope, action } = context;
    this.#scoped = Array.from(scope, ([column, value]) => column.encode(value, action));
  }

  /** Checks whether it can find a row by a condition: one that names a single column. */
  takes(where: unknown): where is Readonly<Record<string, unknown>> {
    if (!isPlainObject(where)) return false;
    const names = Object.keys(where);
    return names.length === 1 && where[names[0]!] !== undefined;
  }

  /** Finds a row, or `null`. */
  async find(where: Readonly<Record<string, unknown>>): Promise<AnyRow | null> {
    const { table, action } = this.#context;
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
    const operation = new Operation("read", this.#context);
    const unique = uniqueValues(where, operation);
    // The values are bound in this order.
    const filters = [
      ...valueFilters(operation.scope, operation),
      ...valueFilters(unique, operation),
    ];
    const query = readRows(
      { columns: operation.table.columns, filter: every(filters) },
      operation,
    );
    const lookup = { column: operation.column(name), sql: operation.sql(query) };
    this.#lookups.set(name, lookup);
    return lookup;
  }
}
