/**
 * Updates many rows, and returns them.
 *
 * @module
 */
import { Operation } from "../query/operation.ts";
import { type AnyRow, decodeRow, selectionOf } from "../query/table.ts";
import { assign } from "./assignments.ts";
import { keysFilter, lock, readByKeys } from "./row_reading.ts";
import type { ManyUpdate } from "./update_many.ts";

/** The most rows that are found by their keys in one statement. */
const MAX_KEYS = 1024;

/** Updates rows, all of them or none, and returns them; without anything to set, they are read. */
export async function updateManyAndReturn(
  { filter, values }: ManyUpdate,
  operation: Operation,
): Promise<AnyRow[]> {
  const { table, table: { name, columns, connection: { kysely, grammar } } } = operation;
  const isRead = values.size === 0;
  operation.section(isRead ? "unchanged" : "returning");
  if (!isRead && !grammar.returning) {
    return await table.connection.transaction(() => updateLocked({ filter, values }, operation));
  }
  const assignments = assign(values, operation);
  // A statement that returns rows can read the table that it writes.
  const selection = selectionOf(columns);
  const { rows } = await operation.run(() =>
    isRead
      ? kysely.selectFrom(name).select(selection).where(filter)
      : kysely.updateTable(name).set(assignments).where(filter).returning(selection)
  );
  return rows.map((row) => decodeRow(row, columns));
}

/** Locks rows, updates them by their keys, and reads them again. */
async function updateLocked(
  { filter, values }: ManyUpdate,
  operation: Operation,
): Promise<AnyRow[]> {
  const { table, table: { name, primaryKey, columns, connection: { kysely } }, action } = operation;
  const found = await operation.run(() => lock(filter, table));
  const keys = found.rows.map((row) => decodeRow(row, columns)[primaryKey.name]);
  const updated: AnyRow[] = [];
  for (let start = 0; start < keys.length; start += MAX_KEYS) {
    const some = keys.slice(start, start + MAX_KEYS);
    const update = new Operation("update by keys", { table, scope: new Map(), action });
    const assignments = assign(values, update);
    update.section("in");
    const keyed = keysFilter(some, update);
    await update.run(() => kysely.updateTable(name).set(assignments).where(keyed));
    const { rows } = await readByKeys(some, update);
    updated.push(...rows.map((row) => decodeRow(row, columns)));
  }
  return updated;
}
