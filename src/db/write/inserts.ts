/**
 * Creates rows.
 *
 * @module
 */
import { sql, type SqlBool } from "kysely";
import type { Statement } from "../connection/statement.ts";
import { type DbError, dbError } from "../errors.ts";
import { isGenerated } from "../model/model.ts";
import { every, valueFilters } from "../query/filters.ts";
import { Operation, type OperationContext } from "../query/operation.ts";
import type { Table } from "../query/table.ts";
import { type AnyRow, selectionOf, type TableColumn, type Values } from "../query/table_column.ts";
import { assign, type Assignments } from "./assignments.ts";
import { lock, namesOf, oneRow, rowOf } from "./row_reading.ts";

/** The insertion of a row that another may have created first: that one is then looked for. */
export class InsertionUnless {
  /** The unique columns whose values the other row has. */
  readonly columns: readonly TableColumn[];
  #error: unknown;

  /** Creates an insertion that has not begun. */
  constructor(columns: readonly TableColumn[]) {
    this.columns = columns;
  }

  /** Inserts the row. */
  async run<T>(insert: () => Promise<T>): Promise<T> {
    try {
      return await insert();
    } catch (error) {
      this.#error = error;
      throw error;
    }
  }

  /** Checks whether an error is that of the row, and not of a hook or of rows beside it. */
  hasFailedBy(error: unknown): boolean {
    return error === this.#error;
  }
}

/**
 * Creates a row. If another has its values of the unique columns of `unless`, the statement does
 * not fail, which would end a transaction on PostgreSQL; the error is the same.
 *
 * @throws {DbError} `UniqueViolation` if another row has its value of a unique column
 */
export async function insertRow(
  values: Values,
  context: OperationContext,
  unless?: InsertionUnless,
): Promise<AnyRow> {
  return unless
    ? await unless.run(() => insert(values, context, unless.columns))
    : await insert(values, context);
}

async function insert(
  values: Values,
  context: OperationContext,
  unless?: readonly TableColumn[],
): Promise<AnyRow> {
  const { table, table: { primaryKey, connection } } = context;
  const operation = new Operation("create", context);
  const assignments = assign(values, operation);
  const build = () => insertInto(context.table, [assignments]);
  if (connection.grammar.returning) {
    if (unless) operation.section(`unless ${fieldsOf(unless)}`);
    await passKeys([values.get(primaryKey[0]!)], context);
    const result = await operation.run(() =>
      build().$if(
        unless !== undefined,
        (insert) =>
          insert.onConflict((conflict) =>
            conflict.columns(namesOf({ columns: unless! })).doNothing()
          ),
      ).returning(selectionOf(context.table.columns))
    );
    if (unless && result.rows.length === 0) throw taken(unless, context);
    return oneRow(result, context);
  }
  const [column] = primaryKey as [TableColumn];
  const isGiven = values.get(column) !== undefined;
  const key = isGiven
    ? new Map(primaryKey.map((column) => [column, values.get(column)]))
    : undefined;
  const [{ insertId }, created] = await table.executeTogether(context.action, [
    operation.statement(build),
    lockKey(key, context),
  ]);
  if (isGiven) return oneRow(created, context);
  const row = rowOf(created, context.table);
  if (row && insertId === BigInt(row[column.name] as number | bigint)) return row;
  // A trigger or a default has set the key, and `last_insert_id()` is that of an earlier row.
  if (insertId === undefined) {
    throw dbError(context.action, { code: "Database", reason: "the key was not generated" });
  }
  const statement = lockKey(new Map([[column, column.decode(insertId)]]), context);
  return oneRow(await table.execute(context.action, statement), context);
}

/** Returns the statement that reads the row of a key, by default that of the one just generated. */
function lockKey(key: Values | undefined, context: OperationContext): Statement {
  const { table, table: { primaryKey } } = context;
  const operation = new Operation(key === undefined ? "lock generated" : "lock", context);
  const filter = key === undefined
    ? () => sql<SqlBool>`${sql.ref(primaryKey[0]!.column)} = last_insert_id()`
    : every(valueFilters(key, operation));
  return operation.statement(() => lock(filter, table));
}

/**
 * Makes generated keys begin after those that are about to be given, where the database does not do
 * so itself: afterwards, a failure would be reported for rows that are written.
 */
export async function passKeys(
  keys: readonly unknown[],
  context: OperationContext,
): Promise<void> {
  const { source, primaryKey: [column], connection } = context.table;
  const { passKey } = connection.grammar;
  if (!passKey || !column || !isGenerated(column.field)) return;
  // Keys of one table are all numbers, or all bigints.
  const given = keys.filter((key) => key !== undefined) as number[];
  if (given.length === 0) return;
  const largest = given.reduce((a, b) => a > b ? a : b);
  const sql = passKey(source, column.column, BigInt(largest));
  await connection.execute(context.action, { sql, parameters: [], reads: false });
}

/** Returns the error of values that another row has. */
export function taken(columns: readonly TableColumn[], { action }: OperationContext): DbError {
  return dbError(action, { code: "UniqueViolation", fields: fieldsOf(columns) });
}

/** Returns the names of the fields of columns. */
export function fieldsOf(columns: readonly TableColumn[]): readonly string[] {
  return columns.map(({ name }) => name);
}

/** Builds the insertion of rows of the same columns. */
export function insertInto(table: Table, rows: readonly Assignments[]) {
  const insert = table.connection.kysely.insertInto(table.source);
  const isEmpty = Object.keys(rows[0] ?? {}).length === 0;
  if (!isEmpty) return insert.values(rows);
  // The key of such a row is generated. PostgreSQL generates none for NULL; the others have no
  // DEFAULT VALUES, or none that conflicts can follow.
  return table.connection.grammar.brand === "PostgreSQL"
    ? insert.defaultValues()
    : insert.values({ [table.primaryKey[0]!.column]: null });
}
