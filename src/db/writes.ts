/**
 * Writes rows, and gives them: by the statement that writes, where the database can do so, else by
 * another one in the same transaction.
 *
 * @module
 */
import type { Compilable } from "kysely";
import { assign, type Assignments } from "./assignments.ts";
import { every, valueFilters } from "./condition.ts";
import type { StatementResult } from "./dialect.ts";
import { DbError, dbError } from "./errors.ts";
import { isGenerated } from "./model.ts";
import { Operation, Slot } from "./operation.ts";
import type { Filter } from "./operators.ts";
import { type AnyRow, decodeRow, type Table, type TableColumn, type Values } from "./table.ts";

/** How many rows a statement creates at most: more gain nothing. */
const MAX_ROWS = 1024;
/** How often an upsert begins anew when others create and delete the same row. */
const MAX_ATTEMPTS = 10;

/** The values of a row in the order of its columns; `undefined` is generated. */
type Tuple = readonly unknown[];

/** The row to write: the one of a scope that has values of unique columns. */
export interface RowTarget {
  /** What every row of the repository has. */
  readonly scope: Values;
  /** What only this one has. */
  readonly unique: Values;
}

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

/**
 * Updates a row.
 *
 * @throws {DbError} `RowNotFound` if there is none
 */
export async function updateRow(
  target: RowTarget,
  values: Values,
  table: Table,
  action: string,
): Promise<AnyRow> {
  const row = await tryUpdate(target, values, table, action);
  if (row) return row;
  throw dbError(action, { code: "RowNotFound" });
}

/**
 * Deletes a row.
 *
 * @throws {DbError} `RowNotFound` if there is none
 */
export async function deleteRow(
  target: RowTarget,
  table: Table,
  action: string,
): Promise<AnyRow> {
  const { kysely, grammar } = table.connection;
  const operation = new Operation("delete", action);
  const filter = targetFilter(target, operation);
  const remove = () => kysely.deleteFrom(table.name).where(filter);
  if (grammar.returning) {
    return oneRow(
      await table.run(operation, () => remove().returning(namesOf(table))),
      table,
      action,
    );
  }
  return await table.connection.atomically(async () => {
    const reading = new Operation("lock", action);
    const readFilter = targetFilter(target, reading);
    const row = oneRow(await table.run(reading, () => lock(readFilter, table)), table, action);
    await table.run(operation, remove);
    return row;
  });
}

/**
 * Updates the row whose unique column has a value, or creates it.
 *
 * @throws {DbError} `UniqueViolation` if another row has the value of another unique column, or the row
 * is out of scope
 */
export async function upsertRow(
  target: RowTarget,
  created: Values,
  updated: Values,
  table: Table,
  action: string,
): Promise<AnyRow> {
  if (table.connection.grammar.returning) {
    const upsert = () => insertOrUpdate(target, created, updated, table, action);
    // One that loses against its like may be told of another unique column than the one it names:
    // the second time, it finds the row.
    return await upsert().catch((error: unknown) =>
      isTaken(error) && !table.connection.isInTransaction ? upsert() : Promise.reject(error)
    );
  }
  // ON DUPLICATE KEY would go by every unique column. Each attempt is over before the next begins,
  // so that it does not keep the lock on the gap where the row would be.
  const [[column] = []] = target.unique;
  // A row out of scope stays there, however often it is looked for.
  const attempts = target.scope.size > 0 ? 2 : MAX_ATTEMPTS;
  for (let attempt = 1;; attempt++) {
    const row = await tryUpdate(target, updated, table, action);
    if (row) return row;
    try {
      return await insertRow(created, table, action);
    } catch (error) {
      if (!isTaken(error, column?.name) || attempt === attempts) throw error;
    }
  }
}

function isTaken(error: unknown, column?: string): boolean {
  return error instanceof DbError && error.code === "UniqueViolation" &&
    (column === undefined || error.fields.includes(column));
}

/** Has generated keys begin after those that were given, where the database does not see to it. */
async function passKeys(keys: readonly unknown[], table: Table, action: string): Promise<void> {
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

/** Inserts a row, or updates the one that it conflicts with, in one statement. */
async function insertOrUpdate(
  { scope, unique }: RowTarget,
  created: Values,
  updated: Values,
  table: Table,
  action: string,
): Promise<AnyRow> {
  const operation = new Operation("upsert", action);
  const inserted = assign(created, table, operation);
  operation.section("update");
  const assignments = assign(updated, table, operation);
  operation.section("scope");
  const scoped = Array.from(scope, ([column, value]) => {
    const slot = operation.bind(`${column.name},`, column.encode(value, action));
    return [`${table.name}.${column.name}`, slot] as const;
  });
  const [{ name }] = [...unique.keys()] as [TableColumn];
  operation.section(`on ${name}`);
  const result = await table.run(operation, () =>
    insertInto(table, [inserted])
      .onConflict((conflict) =>
        conflict.column(name)
          .doUpdateSet((eb) =>
            updated.size > 0 ? assignments : { [name]: eb.ref(`excluded.${name}`) }
          )
          .where((eb) => eb.and(scoped.map(([column, slot]) => eb(column, "=", slot))))
      )
      .returning(namesOf(table)));
  if (result.rows.length > 0) {
    await passKeys([created.get(table.primaryKey)], table, action);
    return oneRow(result, table, action);
  }
  throw dbError(action, { code: "UniqueViolation", fields: [name] });
}

/** Updates a row, if there is one. Without anything to set, it is only read. */
async function tryUpdate(
  target: RowTarget,
  values: Values,
  table: Table,
  action: string,
): Promise<AnyRow | undefined> {
  const { kysely, grammar } = table.connection;
  const operation = new Operation("update", action);
  const assignments = assign(values, table, operation);
  const filter = targetFilter(target, operation);
  if (values.size === 0) {
    return rowOf(
      await table.run(
        operation,
        () => kysely.selectFrom(table.name).select(namesOf(table)).where(filter),
      ),
      table,
    );
  }
  const update = () => kysely.updateTable(table.name).set(assignments).where(filter);
  if (grammar.returning) {
    return rowOf(await table.run(operation, () => update().returning(namesOf(table))), table);
  }
  return await table.connection.atomically(async () => {
    if ([...target.unique.keys()].some((column) => values.has(column))) {
      // What it is found by is about to change: from here on it goes by its key.
      return await updateByKey(target, values, table, action);
    }
    const { affectedRows } = await table.run(operation, update);
    return affectedRows === 0 ? undefined : await lockRow(target.unique, table, action);
  });
}

async function updateByKey(
  target: RowTarget,
  values: Values,
  table: Table,
  action: string,
): Promise<AnyRow | undefined> {
  const operation = new Operation("lock", action);
  const filter = targetFilter(target, operation);
  const row = rowOf(await table.run(operation, () => lock(filter, table)), table);
  if (!row) return undefined;
  const { primaryKey } = table;
  const unique = new Map([[primaryKey, row[primaryKey.name]]]);
  return await tryUpdate({ scope: new Map(), unique }, values, table, action);
}

/** Reads a row that this transaction has written, as it is now and not as it was when that began. */
async function lockRow(unique: Values, table: Table, action: string): Promise<AnyRow> {
  const operation = new Operation("lock", action);
  const filter = every(valueFilters(unique, operation));
  return oneRow(await table.run(operation, () => lock(filter, table)), table, action);
}

function lock(filter: Filter, table: Table): Compilable {
  return table.connection.kysely.selectFrom(table.name).select(namesOf(table)).where(filter)
    .forUpdate();
}

function targetFilter({ scope, unique }: RowTarget, operation: Operation): Filter {
  return every([...valueFilters(scope, operation), every(valueFilters(unique, operation))]);
}

function insertInto(table: Table, rows: readonly Assignments[]) {
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

function namesOf({ columns }: Pick<Table, "columns">): readonly string[] {
  return columns.map(({ name }) => name);
}

function rowOf({ rows: [values] }: StatementResult, { columns }: Table): AnyRow | undefined {
  return values && decodeRow(values, columns);
}

function oneRow(result: StatementResult, table: Table, action: string): AnyRow {
  const row = rowOf(result, table);
  if (row) return row;
  throw dbError(action, { code: "RowNotFound" });
}
