/**
 * Reads the rows that were written.
 *
 * @module
 */
import type { Compilable } from "kysely";
import type { StatementResult } from "../connection/statement.ts";
import { dbError } from "../errors.ts";
import { either, every, valueFilters } from "../query/filters.ts";
import { identityOf } from "../query/key.ts";
import { Operation, type OperationContext, unscoped } from "../query/operation.ts";
import { type Filter, operatorFilter } from "../query/operators.ts";
import type { Table } from "../query/table.ts";
import {
  type AnyRow,
  decodeRow,
  selectionOf,
  type TableColumn,
  type Values,
} from "../query/table_column.ts";

/**
 * Builds the query that reads a row, and keeps others from writing it until the transaction ends.
 */
export function lock(filter: Filter, table: Table): Compilable {
  const { kysely, grammar } = table.connection;
  return kysely.selectFrom(table.source).select(selectionOf(table.columns)).where(filter)
    .$if(grammar.locking !== undefined, (query) => query.forUpdate());
}

/** Reads the rows that have the keys of others, in any order, as `lock` does. */
export async function readByKeys(
  rows: readonly AnyRow[],
  context: OperationContext,
): Promise<StatementResult> {
  const operation = new Operation("by keys", unscoped(context));
  const filter = keysFilter(rows, operation);
  return await operation.run(() => lock(filter, context.table));
}

/** The most rows that are found by their keys in one statement. */
const MAX_KEYS = 1024;

/** Divides a list into parts that one statement finds by their keys. */
export function batchesOf<T>(list: readonly T[]): readonly (readonly T[])[] {
  const starts = Array.from({ length: Math.ceil(list.length / MAX_KEYS) }, (_, i) => i * MAX_KEYS);
  return starts.map((start) => list.slice(start, start + MAX_KEYS));
}

/** Returns the values of the primary key that name a row. */
export function keyOfRow(row: AnyRow, { primaryKey }: Table): Values {
  return new Map(primaryKey.map((column) => [column, row[column.name]]));
}

/**
 * Returns the filter of the rows that have the keys of some rows. Of a key of several columns, the
 * one with the most values is compared with lists, for each combination of the others.
 */
export function keysFilter(rows: readonly AnyRow[], operation: Operation): Filter {
  const { primaryKey } = operation.table;
  const [column] = primaryKey.toReversed().toSorted((a, b) =>
    valuesOf(b, rows) - valuesOf(a, rows)
  );
  const others = primaryKey.filter((other) => other !== column);
  const listed = (some: readonly AnyRow[]) => {
    const operand = some.map((row) => row[column!.name]);
    return operatorFilter({ column: column!, operator: "in", operand }, operation);
  };
  if (others.length === 0) return listed(rows);
  const groups = [...Map.groupBy(rows, (row) => identityOf(row, others)).values()];
  operation.add(`any of ${groups.length} `);
  return either(groups.map((group) => {
    const values = new Map(others.map((other) => [other, group[0]![other.name]]));
    return every([...valueFilters(values, operation), listed(group)]);
  }));
}

function valuesOf(column: TableColumn, rows: readonly AnyRow[]): number {
  return new Set(rows.map((row) => identityOf(row, [column]))).size;
}

/** Returns the names of columns in the SQL. */
export function namesOf({ columns }: Pick<Table, "columns">): string[] {
  return columns.map(({ column }) => column);
}

/** Returns the row of a result, if it has one. */
export function rowOf({ rows: [values] }: StatementResult, { columns }: Table): AnyRow | undefined {
  return values && decodeRow(values, columns);
}

/**
 * Returns the row of a result.
 *
 * @throws {DbError} `RowNotFound` if it has none
 */
export function oneRow(result: StatementResult, { table, action }: OperationContext): AnyRow {
  const row = rowOf(result, table);
  if (row) return row;
  throw dbError(action, { code: "RowNotFound" });
}
