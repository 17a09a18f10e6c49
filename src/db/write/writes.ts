/**
 * Updates and deletes single rows, and returns them: by the statement that writes, where the
 * database can do so, otherwise by another one in the same transaction.
 *
 * @module
 */
import { sql } from "kysely";
import type { Statement } from "../connection/statement.ts";
import { dbError } from "../errors.ts";
import { uniqueFilter } from "../query/filters.ts";
import { Operation, type OperationContext, unscoped } from "../query/operation.ts";
import type { Table } from "../query/table.ts";
import { type AnyRow, selectionOf, type TableColumn, type Values } from "../query/table_column.ts";
import { assign, markValues } from "./assignments.ts";
import { keyOfRow, lock, rowOf } from "./row_reading.ts";

/** A row and what to set in it. */
export interface RowUpdate {
  /** The values of unique columns that name the row, and the version that it must have. */
  readonly unique: Values;
  /** The values to set. */
  readonly values: Values;
}

/**
 * Updates a row.
 *
 * @throws {DbError} `RowNotFound` if there is no such row, `Conflict` if it has another version
 */
export async function updateRow(update: RowUpdate, context: OperationContext): Promise<AnyRow> {
  return await tryUpdate(update, context) ?? await unmet(update.unique, context);
}

/**
 * Fails for a row that was not found, by the version that it was to have or at all.
 *
 * @throws {DbError} `Conflict` if there is a row that has another version, else `RowNotFound`
 */
export async function unmet(unique: Values, context: OperationContext): Promise<never> {
  const { table, action } = context;
  const key = withoutVersion(unique, table);
  const isThere = key.size < unique.size &&
    await readTarget(key, context, { isCurrent: true }) !== undefined;
  throw dbError(action, { code: isThere ? "Conflict" : "RowNotFound" });
}

/**
 * Deletes the row with these values of unique columns.
 *
 * @throws {DbError} `RowNotFound` if there is no such row, `Conflict` if it has another version
 */
export async function deleteRow(unique: Values, context: OperationContext): Promise<AnyRow> {
  const { table } = context;
  const { kysely, grammar } = table.connection;
  const operation = new Operation("delete", context);
  const filter = uniqueFilter(unique, operation);
  const remove = () => kysely.deleteFrom(table.source).where(filter);
  const [deleted] = grammar.returning
    ? [await operation.run(() => remove().returning(selectionOf(table.columns)))]
    : await table.executeTogether(context.action, [
      lockTarget(unique, context),
      operation.statement(remove),
    ]);
  return rowOf(deleted, table) ?? await unmet(unique, context);
}

/**
 * Marks the row with these values of unique columns as deleted, and returns it. One that is marked
 * is not found: it keeps its time.
 *
 * @throws {DbError} `RowNotFound` if there is no such row, `Conflict` if it has another version
 */
export async function markRow(
  { unique, mark }: { readonly unique: Values; readonly mark: TableColumn },
  operation: Operation,
): Promise<AnyRow> {
  const { table, scope, action } = operation;
  const values = markValues(mark, operation);
  return await updateRow({ unique, values }, { table, scope, seesDeleted: false, action });
}

/** Updates a row, if it exists. Without anything to set, it is only read. */
export async function tryUpdate(
  { unique, values }: RowUpdate,
  context: OperationContext,
): Promise<AnyRow | undefined> {
  if (values.size === 0) return await readTarget(unique, context);
  const { table } = context;
  const { kysely, grammar } = table.connection;
  const operation = new Operation("update", context);
  const assignments = assign(values, operation);
  const filter = uniqueFilter(unique, operation);
  const update = () => kysely.updateTable(table.source).set(assignments).where(filter);
  if (grammar.returning) {
    return rowOf(await operation.run(() => update().returning(selectionOf(table.columns))), table);
  }
  const key = withoutVersion(unique, table);
  if ([...key.keys()].some((column) => values.has(column))) {
    // The columns it is found by are about to change: from here on it is found by its key.
    return await table.connection.atomically(() => updateByKey({ unique, values }, context));
  }
  const { scope, action } = context;
  const [updated, found] = await table.executeTogether(action, [
    operation.statement(update),
    // The update may have marked it as deleted, and has changed its version.
    lockTarget(key, { table, scope, seesDeleted: true, action }),
  ]);
  return updated.affectedRows === 0 ? undefined : rowOf(found, table);
}

/** Returns the values of unique columns without the version. */
function withoutVersion(unique: Values, { version }: Pick<Table, "version">): Values {
  if (!version || !unique.has(version)) return unique;
  return new Map([...unique].filter(([column]) => column !== version));
}

async function updateByKey(
  { unique, values }: RowUpdate,
  context: OperationContext,
): Promise<AnyRow | undefined> {
  const { table, action } = context;
  const found = await table.execute(action, lockTarget(unique, context));
  const row = rowOf(found, table);
  if (!row) return undefined;
  return await tryUpdate({ unique: keyOfRow(row, table), values }, unscoped(context));
}

/**
 * Reads a row in the scope. `isCurrent` reads it as it is now, where a transaction of MySQL would
 * read it as it was at its beginning, and keeps others from writing it until the transaction ends.
 */
export async function readTarget(
  unique: Values,
  context: OperationContext,
  { isCurrent = false }: { readonly isCurrent?: boolean } = {},
): Promise<AnyRow | undefined> {
  const { table } = context;
  const { kysely, grammar } = table.connection;
  const isShared = isCurrent && !grammar.returning;
  const operation = new Operation(isShared ? "share" : "target", context);
  const filter = uniqueFilter(unique, operation);
  const read = () =>
    kysely.selectFrom(table.source).select(selectionOf(table.columns)).where(filter)
      // MariaDB has no FOR SHARE.
      .$if(isShared, (query) => query.modifyEnd(sql`lock in share mode`));
  return rowOf(await operation.run(read), table);
}

/**
 * Returns the statement that reads a row in the scope as it is now, and keeps others from writing
 * it until the transaction ends.
 */
function lockTarget(unique: Values, context: OperationContext): Statement {
  const operation = new Operation("lock", context);
  const filter = uniqueFilter(unique, operation);
  return operation.statement(() => lock(filter, context.table));
}
