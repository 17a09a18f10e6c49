/**
 * Updates a row, or creates it.
 *
 * @module
 */
import { DbError } from "../errors.ts";
import { isPlainObject } from "../model/plain_object.ts";
import { uniqueValues } from "../query/condition.ts";
import { every, hasUnseen, scopeFilters } from "../query/filters.ts";
import { keyOf } from "../query/key.ts";
import { Operation, type OperationContext } from "../query/operation.ts";
import { type AnyRow, selectionOf, type TableColumn, type Values } from "../query/table_column.ts";
import { assign, createValues, updateValues } from "./assignments.ts";
import { insertInto, insertRow, passKeys, taken } from "./inserts.ts";
import { oneRow } from "./row_reading.ts";
import { readTarget, type RowUpdate, tryUpdate } from "./writes.ts";

/** How often an upsert is tried when others create and delete the same row. */
const MAX_ATTEMPTS = 10;

/** A row to update, or to create. */
export interface RowUpsert extends RowUpdate {
  /** The values of a new row. */
  readonly created: Values;
}

/** What finds a row, and what to create or update; checked where it is read. */
export interface UpsertOptions {
  /** The value of one unique column. */
  readonly where: unknown;
  /** The data of a new row. */
  readonly create: unknown;
  /** What to set in a row that exists. */
  readonly update: unknown;
}

/** How a row is updated or created. */
export interface UpsertSteps extends Omit<RowUpsert, "values"> {
  /** Whether `create` alone does both. */
  readonly isOneStatement?: boolean;
  /** Updates the row; `isCurrent` if it was created, or deleted, a moment ago. */
  readonly update: (isCurrent: boolean) => Promise<AnyRow | undefined>;
  /** Creates the row. */
  readonly create: (unless: TableColumn) => Promise<AnyRow>;
}

/**
 * Reads the options of an upsert.
 *
 * @throws {TypeError} if `where` has more than one column, or `create` another value of it
 */
export function readUpsert(options: UpsertOptions, operation: Operation): RowUpsert {
  const { unique, data } = readUnique(options, operation);
  const created = createValues(data, operation);
  return { unique, created, values: updateValues(options.update, operation) };
}

/** Reads the condition of an upsert, and adds its value to the data of a new row. */
export function readUnique(
  { where, create }: Omit<UpsertOptions, "update">,
  operation: Operation,
): { readonly unique: Values; readonly data: unknown } {
  const unique = uniqueValues(where, operation);
  const [[column, value] = []] = unique;
  if (column === undefined || unique.size > 1) {
    throw operation.mistake("where has more than one column");
  }
  const given = isPlainObject(create) ? create[column.name] : undefined;
  if (given !== undefined && keyOf(column, given) !== keyOf(column, value)) {
    throw operation.mistake(`create has another ${column.name} than where`);
  }
  const data = isPlainObject(create) ? { ...create, [column.name]: value } : create;
  return { unique, data };
}

/**
 * Updates the row whose unique column has a value, or creates it. Without anything to set, a row
 * that exists is only read.
 *
 * @throws {DbError} `UniqueViolation` if another row has the value of another unique column, or the
 * row is out of scope
 */
export async function upsertRow(upsert: RowUpsert, context: OperationContext): Promise<AnyRow> {
  const { unique, values, created } = upsert;
  const isRead = values.size === 0;
  const isOneStatement = context.table.connection.grammar.returning && !isRead;
  return await updateOrCreate({
    unique,
    created,
    isOneStatement,
    update: (isCurrent) =>
      isRead ? readTarget(unique, context, { isCurrent }) : tryUpdate(upsert, context),
    create: (unless) =>
      isOneStatement ? insertOrUpdate(upsert, context) : insertRow(created, context, unless),
  }, context);
}

/** Updates or creates a row as `upsertRow` does, by steps that each take effect or not. */
export async function updateOrCreate(
  { unique, created, isOneStatement = false, update, create }: UpsertSteps,
  context: OperationContext,
): Promise<AnyRow> {
  const { table: { connection }, action } = context;
  // a statement with ON CONFLICT checks them even if the row exists; so does this
  for (const [column, value] of created) if (value !== null) column.encode(value, action);
  const [column] = [...unique.keys()] as [TableColumn];
  // A row out of scope, or hidden, stays so, however often it is looked for.
  const attempts = isOneStatement || hasUnseen(context) ? 2 : MAX_ATTEMPTS;
  // ON DUPLICATE KEY would apply to every unique column. Each attempt is over before the next
  // begins, so that it does not keep the lock on the gap where the row would be.
  for (let attempt = 1;; attempt++) {
    const row = isOneStatement ? undefined : await update(attempt > 1);
    if (row) return row;
    try {
      return await create(column);
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
  const { table } = context;
  const operation = new Operation("upsert", context);
  const inserted = assign(created, operation);
  operation.section("update");
  const assignments = assign(values, operation);
  operation.section("scope");
  const scoped = scopeFilters(operation, { of: table.rows });
  const [column] = [...unique.keys()] as [TableColumn];
  operation.section(`on ${column.name}`);
  await passKeys([created.get(table.primaryKey)], context);
  const result = await operation.run(() =>
    insertInto(table, [inserted])
      .onConflict((conflict) =>
        conflict.column(column.column)
          .doUpdateSet(assignments)
          .where(every(scoped))
      )
      .returning(selectionOf(table.columns))
  );
  if (result.rows.length > 0) return oneRow(result, context);
  throw taken(column, context);
}
