/**
 * Reads the one row that was written.
 *
 * @module
 */
import type { Compilable } from "kysely";
import type { StatementResult } from "../connection/statement.ts";
import { dbError } from "../errors.ts";
import type { OperationContext } from "../query/operation.ts";
import type { Filter } from "../query/operators.ts";
import { type AnyRow, decodeRow, selectionOf, type Table } from "../query/table.ts";

/**
 * Builds the query that reads a row, and keeps others from writing it until the transaction ends.
 */
export function lock(filter: Filter, table: Table): Compilable {
  return table.connection.kysely.selectFrom(table.name).select(selectionOf(table.columns)).where(
    filter,
  )
    .forUpdate();
}

/** Returns the names of columns. */
export function namesOf({ columns }: Pick<Table, "columns">): readonly string[] {
  return columns.map(({ name }) => name);
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
