/**
 * Creates rows.
 *
 * @module
 */
import { assign, type Assignments } from "./assignments.ts";
import { isGenerated } from "../model/model.ts";
import { Operation, Slot } from "../connection/operation.ts";
import { lockRow, namesOf, oneRow } from "./row_reading.ts";
import type { AnyRow, Table, Values } from "../query/table.ts";

/** How many rows a statement creates at most: more gain nothing. */
const MAX_ROWS = 1024;
/** The values of a row in the order of its columns; `undefined` is generated. */
type Tuple = readonly unknown[];

/** Creates a row. */
export async function insertRow(values: Values, table: Table, action: string): Promise<AnyRow> {
  const operation = new Operation("create", action);
  const assignments = assign(values, table, operation);
  if (table.connection.grammar.returning) {
    const insert = () => insertInto(table, [assignments]).returning(namesOf(table));
    const row = oneRow(await table.run(operation, insert), table, action);
    await passKeys([values.get(table.primaryKey)], table, action);
    return row;
  }
  return await table.connection.atomically(async () => {
    const { insertId } = await table.run(operation, () => insertInto(table, [assignments]));
    const { primaryKey } = table;
    const key = values.get(primaryKey) ??
      primaryKey.codec.decode(insertId, primaryKey.field);
    return await lockRow(new Map([[primaryKey, key]]), table, action);
  });
}

/** Creates rows, all of them or none. */
export async function insertRows(
  rows: readonly Tuple[],
  table: Table,
  action: string,
): Promise<void> {
  const batches = batchesOf(rows, table);
  const insert = async () => {
    for (const batch of batches) await insertBatch(batch, table, action);
  };
  await (batches.length > 1 ? table.connection.transaction(insert) : insert());
}

/** Creates rows that take the same columns. */
async function insertBatch(batch: readonly Tuple[], table: Table, action: string): Promise<void> {
  const columns = table.columns.filter(({ index }) => batch[0]?.[index] !== undefined);
  const values: unknown[] = [];
  for (const tuple of batch) {
    for (const column of columns) {
      const value = tuple[column.index];
      values.push(value === null ? null : column.encode(value, action));
    }
  }
  const names = namesOf({ columns });
  const operation = new Operation(`createMany ${batch.length} of ${names}`, action, values);
  await table.run(operation, () => {
    const rowOfSlots = (row: number) =>
      Object.fromEntries(
        names.map((name, index) => [name, new Slot(row * names.length + index)]),
      );
    return insertInto(table, batch.map((_, row) => rowOfSlots(row)));
  });
  await passKeys(batch.map((tuple) => tuple[table.primaryKey.index]), table, action);
}

/** Has generated keys begin after those that were given, where the database does not see to it. */
export async function passKeys(
  keys: readonly unknown[],
  table: Table,
  action: string,
): Promise<void> {
  const { primaryKey, connection: { grammar, kysely } } = table;
  if (!grammar.passKey || !isGenerated(primaryKey.field)) return;
  // Keys of one table are all numbers, or all bigints.
  const given = keys.filter((key) => key !== undefined) as number[];
  if (given.length === 0) return;
  const largest = given.reduce((a, b) => a > b ? a : b);
  const operation = new Operation("pass key", action);
  const slot = operation.bind("?", primaryKey.encode(largest, action));
  const pass = grammar.passKey(table.name, primaryKey.name, slot);
  await table.run(operation, () => ({ compile: () => pass.compile(kysely) }));
}

/** Says how to create rows of the same columns. */
export function insertInto(table: Table, rows: readonly Assignments[]) {
  const insert = table.connection.kysely.insertInto(table.name);
  const isEmpty = Object.keys(rows[0] ?? {}).length === 0;
  if (!isEmpty) return insert.values(rows);
  // A row that is all generated: MySQL has no other way to say so, which SQLite lacks.
  return table.connection.grammar.returning
    ? insert.defaultValues()
    : insert.values({ [table.primaryKey.name]: null });
}

/**
 * Parts rows, in their order, into what statements create: those of one take the same columns, and
 * are a power of two, so that the SQL of any number of rows is soon known.
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
