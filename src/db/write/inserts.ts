/**
 * Creates rows.
 *
 * @module
 */
import { sql, type SqlBool } from "kysely";
import type { RecordsGrammar } from "../connection/grammar.ts";
import { Slot, type Statement } from "../connection/statement.ts";
import { type DbError, dbError } from "../errors.ts";
import { isGenerated } from "../model/model.ts";
import { every, valueFilters } from "../query/filters.ts";
import { Operation, type OperationContext } from "../query/operation.ts";
import {
  type AnyRow,
  selectionOf,
  type Table,
  type TableColumn,
  type Values,
} from "../query/table.ts";
import { assign, type Assignments } from "./assignments.ts";
import { lock, namesOf, oneRow, rowOf } from "./row_reading.ts";

/** The most rows in a statement: more gain nothing. */
const MAX_ROWS = 1024;
/** The most rows that a statement binds as one value. */
const MAX_RECORDS = 10_000;

/** The values of a row in the order of its columns; `undefined` is generated. */
type Tuple = readonly unknown[];

/**
 * Creates a row. If another has its value of the unique column `unless`, the statement does not
 * fail, which would end a transaction on PostgreSQL; the error is the same.
 *
 * @throws {DbError} `UniqueViolation` if another row has its value of a unique column
 */
export async function insertRow(
  values: Values,
  context: OperationContext,
  unless?: TableColumn,
): Promise<AnyRow> {
  const { primaryKey, connection } = context.table;
  const operation = new Operation("create", context);
  const assignments = assign(values, operation);
  const insert = () => insertInto(context.table, [assignments]);
  if (connection.grammar.returning) {
    if (unless) operation.section(`unless ${unless.name}`);
    await passKeys([values.get(primaryKey)], context);
    const result = await operation.run(() =>
      insert().$if(
        unless !== undefined,
        (insert) => insert.onConflict((conflict) => conflict.column(unless!.name).doNothing()),
      ).returning(selectionOf(context.table.columns))
    );
    if (unless && result.rows.length === 0) throw taken(unless, context);
    return oneRow(result, context);
  }
  const key = values.get(primaryKey);
  const [{ insertId }, created] = await connection.executeTogether(context.action, [
    operation.statement(insert),
    lockKey(key, context),
  ]);
  if (key !== undefined) return oneRow(created, context);
  const row = rowOf(created, context.table);
  if (row && insertId === BigInt(row[primaryKey.name] as number | bigint)) return row;
  // A trigger or a default has set the key, and `last_insert_id()` is that of an earlier row.
  if (insertId === undefined) {
    throw dbError(context.action, { code: "Database", reason: "the key was not generated" });
  }
  const statement = lockKey(primaryKey.decode(insertId), context);
  return oneRow(await connection.execute(context.action, statement), context);
}

/** Returns the statement that reads the row of a key, by default that of the one just generated. */
function lockKey(key: unknown, context: OperationContext): Statement {
  const { table, table: { primaryKey } } = context;
  const operation = new Operation(key === undefined ? "lock generated" : "lock", context);
  const filter = key === undefined
    ? () => sql<SqlBool>`${sql.ref(primaryKey.name)} = last_insert_id()`
    : every(valueFilters(new Map([[primaryKey, key]]), operation));
  return operation.statement(() => lock(filter, table));
}

/** Creates rows, all of them or none. */
export async function insertRows(
  rows: readonly Tuple[],
  context: OperationContext,
): Promise<void> {
  const { table } = context;
  const { records } = table.connection.grammar;
  // A generated key that is the only column is inserted by values.
  const insertions = records && table.columns.length > 1
    ? recordBatchesOf(rows, { records, context }).map((batch) => () =>
      // A single row is prepared, however long it is.
      batch.tuples.length === 1
        ? insertBatch(batch.tuples, context)
        : insertRecords(batch, { records, context })
    )
    : batchesOf(rows, table).map((batch) => () => insertBatch(batch, context));
  const insert = async () => {
    for (const each of insertions) await each();
  };
  await (insertions.length > 1 ? table.connection.transaction(insert) : insert());
}

/**
 * Makes generated keys begin after those that are about to be given, where the database does not do
 * so itself: afterwards, a failure would be reported for rows that are written.
 */
export async function passKeys(
  keys: readonly unknown[],
  context: OperationContext,
): Promise<void> {
  const { name, primaryKey, connection } = context.table;
  const { passKey } = connection.grammar;
  if (!passKey || !isGenerated(primaryKey.field)) return;
  // Keys of one table are all numbers, or all bigints.
  const given = keys.filter((key) => key !== undefined) as number[];
  if (given.length === 0) return;
  const largest = given.reduce((a, b) => a > b ? a : b);
  const sql = passKey(name, primaryKey.name, BigInt(largest));
  await connection.execute(context.action, { sql, parameters: [], reads: false });
}

/** Returns the error of a value that another row has. */
export function taken({ name }: TableColumn, { action }: OperationContext): DbError {
  return dbError(action, { code: "UniqueViolation", fields: [name] });
}

/** Builds the insertion of rows of the same columns. */
export function insertInto(table: Table, rows: readonly Assignments[]) {
  const insert = table.connection.kysely.insertInto(table.name);
  const isEmpty = Object.keys(rows[0] ?? {}).length === 0;
  if (!isEmpty) return insert.values(rows);
  // A row that is all generated: this is MySQL's only syntax for it, which SQLite lacks.
  return table.connection.grammar.returning
    ? insert.defaultValues()
    : insert.values({ [table.primaryKey.name]: null });
}

/** How rows are bound as one value. */
interface RecordOptions {
  readonly records: RecordsGrammar;
  readonly context: OperationContext;
}

/** Rows that take the same columns. */
interface RecordBatch {
  readonly columns: readonly TableColumn[];
  readonly tuples: Tuple[];
  /** Each as it is bound. */
  readonly records: unknown[];
  length: number;
}

/** Inserts rows that are bound as one value, so that one statement inserts any number of them. */
async function insertRecords(
  { columns, tuples, records: bound }: RecordBatch,
  { records, context }: RecordOptions,
): Promise<void> {
  const { name: table, primaryKey, connection: { kysely } } = context.table;
  const names = namesOf({ columns });
  const operation = new Operation(`createMany of ${names}`, context);
  const slot = operation.bind("records", records.join(bound));
  await passKeys(tuples.map((tuple) => tuple[primaryKey.index]), context);
  await operation.run(() =>
    kysely.insertInto(table).columns([...names]).expression(records.source(table, names, slot))
  );
}

/** Splits rows, in their order, into batches for one statement each. */
function recordBatchesOf(
  rows: readonly Tuple[],
  { records, context }: RecordOptions,
): readonly RecordBatch[] {
  const { columns, primaryKey: { index } } = context.table;
  const batches: RecordBatch[] = [];
  let batch: RecordBatch | undefined;
  const keyless = columns.filter((column) => column.index !== index);
  for (const tuple of rows) {
    const own = tuple[index] === undefined ? keyless : columns;
    const { record, length } = records.encode(own.map((column) => {
      const { name, field } = column;
      return { name, field, value: column.store(tuple[column.index], context.action) };
    }));
    const isFull = batch &&
      (batch.tuples.length >= MAX_RECORDS || batch.length + length > records.maxLength);
    if (batch?.columns !== own || isFull) {
      batch = { columns: own, tuples: [], records: [], length: 0 };
      batches.push(batch);
    }
    batch.tuples.push(tuple);
    batch.records.push(record);
    batch.length += length;
  }
  return batches;
}

/** Creates rows that take the same columns. */
async function insertBatch(batch: readonly Tuple[], context: OperationContext): Promise<void> {
  const { table, action } = context;
  const columns = table.columns.filter(({ index }) => batch[0]?.[index] !== undefined);
  const values: unknown[] = [];
  for (const tuple of batch) {
    for (const column of columns) values.push(column.store(tuple[column.index], action));
  }
  const names = namesOf({ columns });
  const operation = new Operation(`createMany ${batch.length} of ${names}`, context, { values });
  await passKeys(batch.map((tuple) => tuple[table.primaryKey.index]), context);
  await operation.run(() => {
    const rowOfSlots = (row: number) =>
      Object.fromEntries(
        names.map((name, index) => [name, new Slot(row * names.length + index)]),
      );
    return insertInto(table, batch.map((_, row) => rowOfSlots(row)));
  });
}

/**
 * Splits rows, in their order, into batches for one statement each: rows of a batch take the same
 * columns, and their number is a power of two, so that few different statements are compiled.
 */
function batchesOf(rows: readonly Tuple[], table: Table): readonly (readonly Tuple[])[] {
  const { primaryKey: { index }, connection: { grammar }, columns } = table;
  const fitting = 2 ** Math.floor(Math.log2(grammar.maxParameters / columns.length));
  const isEmpty = columns.length === 1;
  const batches: (readonly Tuple[])[] = [];
  for (let start = 0; start < rows.length;) {
    const isKeyed = rows[start]?.[index] !== undefined;
    const most = isEmpty && !isKeyed ? 1 : Math.min(MAX_ROWS, fitting, rows.length - start);
    const other = rows.slice(start, start + most).findIndex((tuple) =>
      (tuple[index] !== undefined) !== isKeyed
    );
    const size = 2 ** Math.floor(Math.log2(other === -1 ? most : other));
    batches.push(rows.slice(start, start + size));
    start += size;
  }
  return batches;
}
