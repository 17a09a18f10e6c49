/**
 * Creates many rows by few statements.
 *
 * @module
 */
import type { Compilable, InsertQueryBuilder, InsertResult } from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import type { RecordsGrammar } from "../connection/grammar.ts";
import { Slot, type Statement } from "../connection/statement.ts";
import { isFilled } from "../model/model.ts";
import { Operation, type OperationContext } from "../query/operation.ts";
import type { Table } from "../query/table.ts";
import type { TableColumn } from "../query/table_column.ts";
import { insertInto, passKeys } from "./inserts.ts";
import { namesOf } from "./row_reading.ts";

/** The most rows in a statement: more gain nothing. */
const MAX_ROWS = 1024;
/** The most rows that a statement binds as one value. */
const MAX_RECORDS = 10_000;

/** The values of a row in the order of its columns; the database sets `undefined`. */
export type Tuple = readonly unknown[];

/** An insertion of rows. */
export type Insertion = InsertQueryBuilder<AnyTables, string, InsertResult>;

/** Rows for one statement, which inserts them. */
export interface InsertBatch {
  /** The statement. */
  readonly statement: Statement;
  /** The rows. */
  readonly tuples: readonly Tuple[];
}

/** Binds what follows the rows of a statement; returns what adds that to the insertion. */
export type Extend = (operation: Operation) => (insert: Insertion) => Compilable;

/** How rows are inserted. */
export interface InsertManner<T> {
  /** What follows the rows of each statement. */
  readonly extend?: Extend | undefined;
  /** Runs the statement of a batch. */
  readonly run: (batch: InsertBatch) => Promise<T>;
  /** Whether a batch that runs may still be undone. */
  readonly mayUndo?: boolean;
}

/** Creates rows, all of them or none; returns the result of each batch. */
export async function insertRows<T>(
  rows: readonly Tuple[],
  { extend = () => (insert) => insert, run, mayUndo = false }: InsertManner<T>,
  context: OperationContext,
): Promise<readonly T[]> {
  const { table, table: { connection: { grammar: { records } }, primaryKey } } = context;
  // A generated key that is the only column is inserted by values.
  const insertions = records && table.columns.length > 1
    ? recordBatchesOf(rows, { records, context }).map((batch) => ({
      tuples: batch.tuples,
      // A single row is prepared, however long it is.
      build: () =>
        batch.tuples.length === 1
          ? insertTuples(batch.tuples, { extend, context })
          : insertRecords(batch, { records, extend, context }),
    }))
    : batchesOf(rows, table).map((tuples) => ({
      tuples,
      build: () => insertTuples(tuples, { extend, context }),
    }));
  const insert = async () => {
    const results: T[] = [];
    for (const { tuples, build } of insertions) {
      const statement = build();
      await passKeys(tuples.map((tuple) => tuple[primaryKey[0]!.index]), context);
      results.push(await run({ statement, tuples }));
    }
    return results;
  };
  const isTransaction = insertions.length > 1 || mayUndo && insertions.length > 0;
  return await (isTransaction ? table.connection.transaction(insert) : insert());
}

/** How rows are bound as one value. */
interface RecordOptions {
  readonly records: RecordsGrammar;
  readonly context: OperationContext;
}

/** How the rows of a statement are inserted. */
interface BatchOptions {
  readonly extend: Extend;
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

/** Returns the statement that inserts rows that are bound as one value, however many they are. */
function insertRecords(
  { columns, records: bound }: RecordBatch,
  { records, extend, context }: RecordOptions & BatchOptions,
): Statement {
  const { source, connection: { kysely } } = context.table;
  const names = namesOf({ columns });
  const operation = new Operation(`createMany of ${names}`, context);
  const slot = operation.bind("records", records.join(bound));
  const extended = extend(operation);
  return operation.statement(() =>
    extended(
      kysely.insertInto(source).columns([...names]).expression(records.source(source, names, slot)),
    )
  );
}

/** Splits rows, in their order, into batches for one statement each. */
function recordBatchesOf(
  rows: readonly Tuple[],
  { records, context }: RecordOptions,
): readonly RecordBatch[] {
  const batches: RecordBatch[] = [];
  let batch: RecordBatch | undefined;
  const columnsOf = columnReader(context.table);
  for (const tuple of rows) {
    const own = columnsOf(tuple);
    const { record, length } = records.encode(own.map((column) => {
      const { column: name, field } = column;
      return { name, field, value: column.store(tuple[column.index], context.action) };
    }));
    const isFull = batch &&
      (batch.tuples.length >= MAX_RECORDS || batch.length + length > records.maxLength);
    if (batch?.columns !== own || isFull || own.length === 0) {
      batch = { columns: own, tuples: [], records: [], length: 0 };
      batches.push(batch);
    }
    batch.tuples.push(tuple);
    batch.records.push(record);
    batch.length += length;
  }
  return batches;
}

/** Returns the statement that inserts rows that take the same columns. */
function insertTuples(
  tuples: readonly Tuple[],
  { extend, context }: BatchOptions,
): Statement {
  const { table, action } = context;
  const columns = table.columns.filter(({ index }) => tuples[0]?.[index] !== undefined);
  const values: unknown[] = [];
  for (const tuple of tuples) {
    for (const column of columns) values.push(column.store(tuple[column.index], action));
  }
  const names = namesOf({ columns });
  const operation = new Operation(`createMany ${tuples.length} of ${names}`, context, { values });
  const extended = extend(operation);
  return operation.statement(() => {
    const rowOfSlots = (row: number) =>
      Object.fromEntries(
        names.map((name, index) => [name, new Slot(row * names.length + index)]),
      );
    return extended(insertInto(table, tuples.map((_, row) => rowOfSlots(row))));
  });
}

/**
 * Splits rows, in their order, into batches for one statement each: rows of a batch take the same
 * columns, and their number is a power of two, so that few different statements are compiled;
 * without transactions, it is any number.
 */
function batchesOf(rows: readonly Tuple[], table: Table): readonly (readonly Tuple[])[] {
  const { maxParameters, hasTransactions } = table.connection.grammar;
  const roundedDown = (count: number) =>
    hasTransactions === false ? Math.floor(count) : 2 ** Math.floor(Math.log2(count));
  const columnsOf = columnReader(table);
  const batches: (readonly Tuple[])[] = [];
  for (let start = 0; start < rows.length;) {
    const own = columnsOf(rows[start]!);
    const fitting = own.length === 0 ? 1 : Math.max(1, roundedDown(maxParameters / own.length));
    const most = Math.min(MAX_ROWS, fitting, rows.length - start);
    const other = rows.slice(start, start + most).findIndex((tuple) => columnsOf(tuple) !== own);
    const size = roundedDown(other === -1 ? most : other);
    batches.push(rows.slice(start, start + size));
    start += size;
  }
  return batches;
}

/** Returns a function that returns the columns that a row takes, in one list for all such rows. */
function columnReader({ columns }: Table): (tuple: Tuple) => readonly TableColumn[] {
  const filled = columns.filter(({ field }) => isFilled(field));
  const lists = new Map<string, readonly TableColumn[]>();
  return (tuple) => {
    const omitted = filled.filter(({ index }) => tuple[index] === undefined);
    const key = namesOf({ columns: omitted }).join();
    const list = lists.get(key) ?? columns.filter((column) => !omitted.includes(column));
    lists.set(key, list);
    return list;
  };
}
