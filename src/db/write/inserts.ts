/**
 * Creates rows.
 *
 * @module
 */
import { Slot } from "../connection/statement.ts";
import { isGenerated } from "../model/model.ts";
import { Operation, type OperationContext } from "../query/operation.ts";
import type { AnyRow, Table, Values } from "../query/table.ts";
import { assign, type Assignments } from "./assignments.ts";
import { lockRow, namesOf, oneRow } from "./row_reading.ts";

/** The most rows in a statement: more gain nothing. */
const MAX_ROWS = 1024;

/** The values of a row in the order of its columns; `undefined` is generated. */
type Tuple = readonly unknown[];

/** Creates a row. */
export async function insertRow(values: Values, context: OperationContext): Promise<AnyRow> {
  const { primaryKey, connection } = context.table;
  const operation = new Operation("create", context);
  const assignments = assign(values, operation);
  const insert = () => insertInto(context.table, [assignments]);
  if (connection.grammar.returning) {
    const result = await operation.run(() => insert().returning(namesOf(context.table)));
    const row = oneRow(result, context);
    await passKeys([values.get(primaryKey)], context);
    return row;
  }
  return await connection.atomically(async () => {
    const { insertId } = await operation.run(insert);
    const key = values.get(primaryKey) ?? primaryKey.decode(insertId);
    return await lockRow(new Map([[primaryKey, key]]), context);
  });
}

/** Creates rows, all of them or none. */
export async function insertRows(
  rows: readonly Tuple[],
  context: OperationContext,
): Promise<void> {
  const batches = batchesOf(rows, context.table);
  const insert = async () => {
    for (const batch of batches) await insertBatch(batch, context);
  };
  await (batches.length > 1 ? context.table.connection.transaction(insert) : insert());
}

/**
 * Makes generated keys begin after those that were given, where the database does not do so itself.
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

/** Creates rows that take the same columns. */
async function insertBatch(batch: readonly Tuple[], context: OperationContext): Promise<void> {
  const { table, action } = context;
  const columns = table.columns.filter(({ index }) => batch[0]?.[index] !== undefined);
  const values: unknown[] = [];
  for (const tuple of batch) {
    for (const column of columns) {
      const value = tuple[column.index];
      values.push(value === null ? null : column.encode(value, action));
    }
  }
  const names = namesOf({ columns });
  const operation = new Operation(`createMany ${batch.length} of ${names}`, context, values);
  await operation.run(() => {
    const rowOfSlots = (row: number) =>
      Object.fromEntries(
        names.map((name, index) => [name, new Slot(row * names.length + index)]),
      );
    return insertInto(table, batch.map((_, row) => rowOfSlots(row)));
  });
  await passKeys(batch.map((tuple) => tuple[table.primaryKey.index]), context);
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
