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
import { fieldsOf, insertInto, InsertionUnless, insertRow, passKeys, taken } from "./inserts.ts";
import { namesOf, oneRow } from "./row_reading.ts";
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
  /** The value of one unique column, or the values of one key. */
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
  /** Creates the row, unless another has its values of the columns. */
  readonly create: (unless: InsertionUnless) => Promise<AnyRow>;
}

/**
 * Reads the options of an upsert.
 *
 * @throws {TypeError} if `where` has more than one column or key, or `create` another value of it
 */
export function readUpsert(options: UpsertOptions, operation: Operation): RowUpsert {
  const { unique, data } = readUnique(options, operation);
  const created = createValues(data, operation);
  return { unique, created, values: updateValues(options.update, operation) };
}

/**
 * Reads the condition of an upsert, and adds its values to the data of a new row, except those that
 * the scope sets.
 */
export function readUnique(
  { where, create }: Omit<UpsertOptions, "update">,
  operation: Operation,
): { readonly unique: Values; readonly data: unknown } {
  const unique = uniqueValues(where, operation);
  if (!isPlainObject(where) || Object.keys(where).length > 1) {
    throw operation.mistake("where has more than one column");
  }
  if (!isPlainObject(create)) return { unique, data: create };
  const data: Record<string, unknown> = { ...create };
  for (const [column, value] of unique) {
    const { name } = column;
    const isOther = (one: unknown) => keyOf(column, one) !== keyOf(column, value);
    if (create[name] !== undefined && isOther(create[name])) {
      throw operation.mistake(`create has another ${name} than where`);
    }
    if (!operation.scope.has(column)) data[name] = value;
    else if (isOther(operation.scope.get(column))) {
      throw operation.mistake(`where has another ${name} than the scope`);
    }
  }
  return { unique, data };
}

/**
 * Updates the row whose unique column or key has a value, or creates it. Without anything to set, a
 * row that exists is only read.
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
      isOneStatement
        ? unless.run(() => insertOrUpdate(upsert, context))
        : insertRow(created, context, unless),
  }, context);
}

/** Updates or creates a row as `upsertRow` does, by steps that each take effect or not. */
export async function updateOrCreate(
  { unique, created, isOneStatement = false, update, create }: UpsertSteps,
  context: OperationContext,
): Promise<AnyRow> {
  const { table: { connection }, action } = context;
  // a statement with ON CONFLICT checks them even if the row exists; so does this
  for (const [column, value] of created) column.store(value, action);
  const columns = [...unique.keys()];
  // A row out of scope, or hidden, stays so, however often it is looked for.
  const attempts = isOneStatement || hasUnseen(context) ? 2 : MAX_ATTEMPTS;
  // ON DUPLICATE KEY would apply to every unique column. Each attempt is over before the next
  // begins, so that it does not keep the lock on the gap where the row would be.
  for (let attempt = 1;; attempt++) {
    const row = isOneStatement ? undefined : await update(attempt > 1);
    if (row) return row;
    const insertion = new InsertionUnless(columns);
    try {
      return await create(insertion);
    } catch (error) {
      if (!insertion.hasFailedBy(error)) throw error;
      // Of two at the same time, the loser may fail on another unique column than the one it names:
      // the second time, it finds the row.
      const isLoser = isTaken(error) && attempt === 1 && !connection.isInTransaction;
      const mayRepeat = isLoser || (!isOneStatement && isTaken(error, columns));
      if (!mayRepeat || attempt === attempts) throw error;
    }
  }
}

function isTaken(error: unknown, columns: readonly TableColumn[] = []): boolean {
  return error instanceof DbError && error.code === "UniqueViolation" &&
    columns.every(({ name }) => error.fields.includes(name));
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
  const columns = [...unique.keys()];
  operation.section(`on ${fieldsOf(columns)}`);
  await passKeys([created.get(table.primaryKey[0]!)], context);
  const result = await operation.run(() =>
    insertInto(table, [inserted])
      .onConflict((conflict) =>
        conflict.columns(namesOf({ columns }))
          .doUpdateSet(assignments)
          .where(every(scoped))
      )
      .returning(selectionOf(table.columns))
  );
  if (result.rows.length > 0) return oneRow(result, context);
  throw taken(columns, context);
}
