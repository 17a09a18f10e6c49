/**
 * Updates many rows, and returns them.
 *
 * @module
 */
import type { Operation } from "../query/operation.ts";
import { type AnyRow, decodeRow, selectionOf } from "../query/table_column.ts";
import { assign } from "./assignments.ts";
import { updateLocked } from "./locked_rows.ts";
import type { ManyUpdate } from "./update_many.ts";

/** Updates rows, all of them or none, and returns them; without anything to set, they are read. */
export async function updateManyAndReturn(
  { filter, values }: ManyUpdate,
  operation: Operation,
): Promise<AnyRow[]> {
  const { table, table: { source, columns, connection: { kysely, grammar } } } = operation;
  const isRead = values.size === 0;
  operation.section(isRead ? "unchanged" : "returning");
  if (!isRead && !grammar.returning) {
    const update = () => updateLocked({ filter, values }, operation);
    return (await table.connection.transaction(update)).map(({ after }) => after);
  }
  const assignments = assign(values, operation);
  // A statement that returns rows can read the table that it writes.
  const selection = selectionOf(columns);
  const { rows } = await operation.run(() =>
    isRead
      ? kysely.selectFrom(source).select(selection).where(filter)
      : kysely.updateTable(source).set(assignments).where(filter).returning(selection)
  );
  return rows.map((row) => decodeRow(row, columns));
}
