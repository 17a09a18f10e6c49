/**
 * Creates many rows: counts them, skips those that exist, or returns them.
 *
 * @module
 */
import { sql } from "kysely";
import type { StatementResult } from "../connection/statement.ts";
import { dbError } from "../errors.ts";
import { decimalDigits } from "../model/stored_value.ts";
import { bindCount } from "../query/find_options.ts";
import { joinedKey, keyOf } from "../query/key.ts";
import { Operation, type OperationContext, unscoped } from "../query/operation.ts";
import { type AnyRow, decodeRow, selectionOf, type TableColumn } from "../query/table_column.ts";
import { createTuple } from "./assignments.ts";
import { type InsertBatch, insertRows, type Tuple } from "./many_inserts.ts";
import { skipConflicts } from "./many_conflicts.ts";
import { readByKeys } from "./row_reading.ts";

/** Reads the data of many rows: a list. */
export function createTuples(
  { name, data }: { readonly name: string; readonly data: unknown },
  operation: Operation,
): readonly Tuple[] {
  if (!Array.isArray(data)) throw operation.mistake(`${name} is not a list`);
  // `for…of` also visits the holes of a sparse list.
  return Array.from(data, (row) => createTuple(row, operation));
}

/**
 * Reads whether rows that exist are left out.
 *
 * @throws {TypeError} if it is not a boolean
 */
export function readSkip({ skipDuplicates = false }: ManyInserts, operation: Operation): boolean {
  if (typeof skipDuplicates === "boolean") return skipDuplicates;
  throw operation.mistake("skipDuplicates is not a boolean");
}

/** Rows to create; checked where they are read. */
export interface ManyInserts {
  /** The data of the rows. */
  readonly data: unknown;
  /** Whether rows that exist are left out. */
  readonly skipDuplicates?: unknown;
}

/** Creates rows, and returns their number; without those that exist, if they are to be skipped. */
export async function createMany(
  inserts: ManyInserts,
  operation: Operation,
): Promise<number> {
  const isSkipping = readSkip(inserts, operation);
  const tuples = createTuples({ name: "data", data: inserts.data }, operation);
  const { table } = operation;
  const manner = isSkipping ? skipConflicts(operation) : {
    run: async ({ statement, tuples }: InsertBatch) => {
      await table.execute(operation.action, statement);
      return tuples.length;
    },
  };
  const counts = await insertRows(tuples, manner, operation);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Creates rows, and returns them as the database stores them, in the order of the data. */
export async function createManyAndReturn(
  data: unknown,
  operation: Operation,
): Promise<AnyRow[]> {
  const { table, table: { columns, primaryKey, connection }, action } = operation;
  const { returning } = connection.grammar;
  const rows = await insertRows(createTuples({ name: "data", data }, operation), {
    extend: returning
      ? (insertion) => {
        insertion.section("returning");
        return (insert) => insert.returning(selectionOf(columns));
      }
      : undefined,
    run: async ({ statement, tuples }) => {
      const inserted = await table.execute(action, statement);
      const result = returning ? inserted : await readCreated(tuples, operation);
      return inOrder(result.rows.map((row) => decodeRow(row, columns)), { tuples, primaryKey });
    },
    mayUndo: !returning,
  }, operation);
  return rows.flat();
}

/** Returns a key for a Map that is the same for equal values of a column, as given or as read. */
export function keyOfValue(column: TableColumn, value: unknown): unknown {
  const { kind, traits: { size } } = column.field;
  return kind === "decimal" ? decimalDigits(String(value), size) : keyOf(column, value);
}

/** Returns such a key of the values of columns. */
export function keyOfValues(
  columns: readonly TableColumn[],
  valueOf: (column: TableColumn) => unknown,
): unknown {
  return joinedKey(columns.map((column) => keyOfValue(column, valueOf(column))));
}

/** Reads the rows that the last statement of MySQL has created. */
async function readCreated(
  tuples: readonly Tuple[],
  context: OperationContext,
): Promise<StatementResult> {
  const { table, table: { primaryKey, connection: { kysely } }, action } = context;
  const [column] = primaryKey as [TableColumn];
  if (tuples[0]?.[column.index] !== undefined) {
    const keyOf = (tuple: Tuple) =>
      Object.fromEntries(primaryKey.map(({ name, index }) => [name, tuple[index]]));
    return await readByKeys(tuples.map(keyOf), context);
  }
  const operation = new Operation("read generated", unscoped(context));
  const count = bindCount({ name: "keys", count: tuples.length }, operation);
  const key = sql.ref(column.column);
  // A statement whose number of rows is known generates its keys at once, one step apart.
  const result = await operation.run(() =>
    kysely.selectFrom(table.source).select(selectionOf(table.columns)).where(
      sql<boolean>`${key} >= last_insert_id()
        and ${key} < last_insert_id() + ${count} * @@auto_increment_increment
        and (${key} - last_insert_id()) % @@auto_increment_increment = 0`,
    )
  );
  if (result.rows.length === tuples.length) return result;
  throw dbError(action, { code: "Database", reason: "the keys were not generated" });
}

/** Sorts created rows: databases return them in any order. Generated keys ascend. */
function inOrder(
  rows: readonly AnyRow[],
  { tuples, primaryKey }: {
    readonly tuples: readonly Tuple[];
    readonly primaryKey: readonly TableColumn[];
  },
): readonly AnyRow[] {
  const { name, index } = primaryKey[0]!;
  const places = new Map(
    tuples.map((tuple, place) => [keyOfValues(primaryKey, ({ index }) => tuple[index]), place]),
  );
  const placed = rows.map((row) => {
    const place = tuples[0]?.[index] === undefined
      ? row[name]
      : places.get(keyOfValues(primaryKey, ({ name }) => row[name]));
    return [place as number | bigint, row] as const;
  });
  return placed.toSorted(([a], [b]) => a < b ? -1 : 1).map(([, row]) => row);
}
