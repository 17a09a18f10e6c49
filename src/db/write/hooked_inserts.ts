/**
 * Creates rows that hooks receive, without those that exist.
 *
 * @module
 */
import { DbError } from "../errors.ts";
import type { Operation } from "../query/operation.ts";
import { type AnyRow, decodeRow, selectionOf } from "../query/table_column.ts";
import { insertRow } from "./inserts.ts";
import { skip } from "./many_conflicts.ts";
import { insertRows, type Tuple } from "./many_inserts.ts";

/** Creates the rows that have no value of a unique column that another row has. */
export async function createSkipping(
  tuples: readonly Tuple[],
  operation: Operation,
): Promise<readonly AnyRow[]> {
  const { table, table: { columns, connection }, action } = operation;
  if (!connection.grammar.returning) return await createEach(tuples, operation);
  const batches = await insertRows(tuples, {
    extend(insertion) {
      const skipping = skip(insertion);
      insertion.section("returning");
      return (insert) => skipping(insert).returning(selectionOf(columns));
    },
    run: async ({ statement }) => (await table.execute(action, statement)).rows,
  }, operation);
  return batches.flat().map((row) => decodeRow(row, columns));
}

/** A statement of MySQL cannot return the rows that it has created. */
async function createEach(tuples: readonly Tuple[], operation: Operation): Promise<AnyRow[]> {
  const rows: AnyRow[] = [];
  for (const tuple of tuples) {
    const values = new Map(
      operation.table.columns.map((column) => [column, tuple[column.index]] as const)
        .filter(([, value]) => value !== undefined),
    );
    try {
      rows.push(await insertRow(values, operation));
    } catch (error) {
      if (!(error instanceof DbError) || error.code !== "UniqueViolation") throw error;
    }
  }
  return rows;
}
