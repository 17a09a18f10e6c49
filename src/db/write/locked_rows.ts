/**
 * Writes rows after locking them, so that they are known before they change.
 *
 * @module
 */
import { uniqueFilter } from "../query/filters.ts";
import { identityOf } from "../query/key.ts";
import { Operation, type OperationContext, unscoped } from "../query/operation.ts";
import type { Filter } from "../query/operators.ts";
import { readLock } from "../query/read_lock.ts";
import { type AnyRow, decodeRow, selectionOf, type Values } from "../query/table_column.ts";
import { assign } from "./assignments.ts";
import { batchesOf, keysFilter, readByKeys } from "./row_reading.ts";
import type { ManyUpdate } from "./update_many.ts";

/** A row before and after an update. */
export interface Change {
  /** The row before the update. */
  readonly before: AnyRow;
  /** The row after it. */
  readonly after: AnyRow;
}

/** Locks rows until the transaction ends, and reads them. */
export async function lockRows(filter: Filter, operation: Operation): Promise<AnyRow[]> {
  const { table: { source, columns, connection: { kysely } } } = operation;
  const locked = await readLock({ lock: "update" }, operation);
  const selection = selectionOf(columns);
  const { rows } = await operation.run(
    () => locked(kysely.selectFrom(source).select(selection).where(filter)),
  );
  return rows.map((row) => decodeRow(row, columns));
}

/** Locks the row in the scope with these values of unique columns, and reads it. */
export async function lockRow(
  unique: Values,
  context: OperationContext,
): Promise<AnyRow | undefined> {
  const operation = new Operation("lock", context);
  const [row] = await lockRows(uniqueFilter(unique, operation), operation);
  return row;
}

/** Locks rows, updates them by their keys, and reads them again. */
export async function updateLocked(
  { filter, values }: ManyUpdate,
  operation: Operation,
): Promise<Change[]> {
  const { table, table: { source, connection: { kysely } } } = operation;
  const changes: Change[] = [];
  for (const before of batchesOf(await lockRows(filter, operation))) {
    const update = new Operation("update by keys", unscoped(operation));
    const assignments = assign(values, update);
    update.section("in");
    const keyed = keysFilter(before, update);
    await update.run(() => kysely.updateTable(source).set(assignments).where(keyed));
    const { rows } = await readByKeys(before, update);
    const read = rows.map((row) => decodeRow(row, table.columns));
    const updated = new Map(read.map((row) => [identityOf(row, table.primaryKey), row]));
    for (const row of before) {
      const after = updated.get(identityOf(row, table.primaryKey));
      if (after) changes.push({ before: row, after });
    }
  }
  return changes;
}

/** Locks rows, and deletes them by their keys. */
export async function deleteLocked(filter: Filter, operation: Operation): Promise<AnyRow[]> {
  const { table: { source, connection: { kysely } } } = operation;
  const found = await lockRows(filter, operation);
  for (const rows of batchesOf(found)) {
    const remove = new Operation("delete by keys", unscoped(operation));
    const keyed = keysFilter(rows, remove);
    await remove.run(() => kysely.deleteFrom(source).where(keyed));
  }
  return found;
}
