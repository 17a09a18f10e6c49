/**
 * Reads the one row that was written.
 *
 * @module
 */
import type { Compilable } from "kysely";
import { every, valueFilters } from "../query/condition.ts";
import type { StatementResult } from "../connection/dialect.ts";
import { dbError } from "../errors.ts";
import { Operation } from "../connection/operation.ts";
import type { Filter } from "../query/operators.ts";
import { type AnyRow, decodeRow, type Table, type Values } from "../query/table.ts";

/** Reads a row that this transaction has written, as it is now and not as it was when that began. */
export async function lockRow(unique: Values, table: Table, action: string): Promise<AnyRow> {
  const operation = new Operation("lock", action);
  const filter = every(valueFilters(unique, operation));
  return oneRow(await table.run(operation, () => lock(filter, table)), table, action);
}

/** Says how to read a row, and keep others from writing it until the transaction ends. */
export function lock(filter: Filter, table: Table): Compilable {
  return table.connection.kysely.selectFrom(table.name).select(namesOf(table)).where(filter)
    .forUpdate();
}

/** Gives the names of columns. */
export function namesOf({ columns }: Pick<Table, "columns">): readonly string[] {
  return columns.map(({ name }) => name);
}

/** Gives the row of a result, if it has one. */
export function rowOf({ rows: [values] }: StatementResult, { columns }: Table): AnyRow | undefined {
  return values && decodeRow(values, columns);
}

/**
 * Gives the row of a result.
 *
 * @throws {DbError} `RowNotFound` if it has none
 */
export function oneRow(result: StatementResult, table: Table, action: string): AnyRow {
  const row = rowOf(result, table);
  if (row) return row;
  throw dbError(action, { code: "RowNotFound" });
}
