/**
 * Updates and deletes single rows, and returns them: by the statement that writes, where the
 * database can do so, otherwise by another one in the same transaction.
 *
 * @module
 */
import { sql } from "kysely";
import type { Statement } from "../connection/statement.ts";
import { DbError, dbError } from "../errors.ts";
import { every, uniqueFilter } from "../query/filters.ts";
import { Operation, type OperationContext } from "../query/operation.ts";
import { scopeFilter } from "../query/operators.ts";
import { type AnyRow, selectionOf, type TableColumn, type Values } from "../query/table.ts";
import { assign } from "./assignments.ts";
import { insertInto, insertRow, passKeys, taken } from "./inserts.ts";
import { lock, oneRow, rowOf } from "./row_reading.ts";

/** How often an upsert is tried when others create and delete the same row. */
const MAX_ATTEMPTS = 10;

/** A row and what to set in it. */
export interface RowUpdate {
  /** The values of unique columns that name the row. */
  readonly unique: Values;
  /** The values to set. */
  readonly values: Values;
}

/** A row to update, or to create. */
export interface RowUpsert extends RowUpdate {
  /** The values of a new row. */
  readonly created: Values;
}

/**
 * Updates a row.
 *
 * @throws {DbError} `RowNotFound` if there is no such row
 */
export async function updateRow(update: RowUpdate, context: OperationContext): Promise<AnyRow> {
  const row = await tryUpdate(update, context);
  if (row) return row;
  throw dbError(context.action, { code: "RowNotFound" });
}

/**
 * Deletes the row with these values of unique columns.
 *
 * @throws {DbError} `RowNotFound` if there is no such row
 */
export async function deleteRow(unique: Values, context: OperationContext): Promise<AnyRow> {
  const { table } = context;
  const { kysely, grammar } = table.connection;
  const operation = new Operation("delete", context);
  const filter = uniqueFilter(unique, operation);
  const remove = () => kysely.deleteFrom(table.name).where(filter);
  if (grammar.returning) {
    return oneRow(
      await operation.run(() => remove().returning(selectionOf(table.columns))),
      context,
    );
  }
  const [found] = await table.connection.executeTogether(context.action, [
    lockTarget(unique, context),
    operation.statement(remove),
  ]);
  return oneRow(found, context);
}

/**
 * Updates the row whose unique column has a value, or creates it. Without anything to set, a row
 * that exists is only read.
 *
 * @throws {DbError} `UniqueViolation` if another row has the value of another unique column, or the
 * row is out of scope
 */
export async function upsertRow(upsert: RowUpsert, context: OperationContext): Promise<AnyRow> {
  const { table: { connection }, scope, action } = context;
  const { unique, values, created } = upsert;
  // a statement with ON CONFLICT checks them even if the row exists; so does this
  for (const [column, value] of created) if (value !== null) column.encode(value, action);
  const [column] = [...unique.keys()] as [TableColumn];
  const isOneStatement = connection.grammar.returning && values.size > 0;
  // A row out of scope stays there, however often it is looked for.
  const attempts = isOneStatement || scope.size > 0 ? 2 : MAX_ATTEMPTS;
  // ON DUPLICATE KEY would apply to every unique column. Each attempt is over before the next
  // begins, so that it does not keep the lock on the gap where the row would be.
  for (let attempt = 1;; attempt++) {
    const row = values.size === 0
      ? await readTarget(unique, context, { isCurrent: attempt > 1 })
      : isOneStatement
      ? undefined
      : await tryUpdate(upsert, context);
    if (row) return row;
    try {
      return isOneStatement
        ? await insertOrUpdate(upsert, context)
        : await insertRow(created, context, column);
    } catch (error) {
      // Of two at the same time, the loser may fail on another unique column than the one it names:
      // the second time, it finds the row.
      const isLoser = isTaken(error) && attempt === 1 && !connection.isInTransaction;
      const mayRepeat = isLoser || (!isOneStatement && isTaken(error, column.name));
      if (!mayRepeat || attempt === attempts) throw error;
    }
  }
}

function isTaken(error: unknown, column?: string): boolean {
  return error instanceof DbError && error.code === "UniqueViolation" &&
    (column === undefined || error.fields.includes(column));
}

/** Inserts a row, or updates the one that it conflicts with, in one statement. */
async function insertOrUpdate(
  { unique, created, values }: RowUpsert,
  context: OperationContext,
): Promise<AnyRow> {
  const { table, scope } = context;
  const operation = new Operation("upsert", context);
  const inserted = assign(created, operation);
  operation.section("update");
  const assignments = assign(values, operation);
  operation.section("scope");
  const scoped = Array.from(
    scope,
    ([column, operand]) => scopeFilter({ column, operand, of: table.name }, operation),
  );
  const [column] = [...unique.keys()] as [TableColumn];
  const { name } = column;
  operation.section(`on ${name}`);
  await passKeys([created.get(table.primaryKey)], context);
  const result = await operation.run(() =>
    insertInto(table, [inserted])
      .onConflict((conflict) =>
        conflict.column(name)
          .doUpdateSet(assignments)
          .where(every(scoped))
      )
      .returning(selectionOf(table.columns))
  );
  if (result.rows.length > 0) return oneRow(result, context);
  throw taken(column, context);
}

/** Updates a row, if it exists. Without anything to set, it is only read. */
async function tryUpdate(
  { unique, values }: RowUpdate,
  context: OperationContext,
): Promise<AnyRow | undefined> {
  if (values.size === 0) return await readTarget(unique, context);
  const { table } = context;
  const { kysely, grammar } = table.connection;
  const operation = new Operation("update", context);
  const assignments = assign(values, operation);
  const filter = uniqueFilter(unique, operation);
  const update = () => kysely.updateTable(table.name).set(assignments).where(filter);
  if (grammar.returning) {
    return rowOf(await operation.run(() => update().returning(selectionOf(table.columns))), table);
  }
  if ([...unique.keys()].some((column) => values.has(column))) {
    // The columns it is found by are about to change: from here on it is found by its key.
    return await table.connection.atomically(() => updateByKey({ unique, values }, context));
  }
  const [updated, found] = await table.connection.executeTogether(context.action, [
    operation.statement(update),
    lockTarget(unique, context),
  ]);
  return updated.affectedRows === 0 ? undefined : rowOf(found, table);
}

async function updateByKey(
  { unique, values }: RowUpdate,
  context: OperationContext,
): Promise<AnyRow | undefined> {
  const { table, action } = context;
  const found = await table.connection.execute(action, lockTarget(unique, context));
  const row = rowOf(found, table);
  if (!row) return undefined;
  const key = new Map([[table.primaryKey, row[table.primaryKey.name]]]);
  return await tryUpdate({ unique: key, values }, { table, action, scope: new Map() });
}

/**
 * Reads a row in the scope. `isCurrent` reads it as it is now, where a transaction of MySQL would
 * read it as it was at its beginning, and keeps others from writing it until the transaction ends.
 */
async function readTarget(
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
    kysely.selectFrom(table.name).select(selectionOf(table.columns)).where(filter)
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
