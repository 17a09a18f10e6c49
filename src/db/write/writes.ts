/**
 * Updates and deletes single rows, and gives them: by the statement that writes, where the database
 * can do so, else by another one in the same transaction.
 *
 * @module
 */
import { assign } from "./assignments.ts";
import { every, valueFilters } from "../query/condition.ts";
import { DbError, dbError } from "../errors.ts";
import { insertInto, insertRow, passKeys } from "./inserts.ts";
import { Operation } from "../connection/operation.ts";
import type { Filter } from "../query/operators.ts";
import { lock, lockRow, namesOf, oneRow, rowOf } from "./row_reading.ts";
import type { AnyRow, Table, TableColumn, Values } from "../query/table.ts";

/** How often an upsert begins anew when others create and delete the same row. */
const MAX_ATTEMPTS = 10;

/** The row to write: the one of a scope that has values of unique columns. */
export interface RowTarget {
  /** What every row of the repository has. */
  readonly scope: Values;
  /** What only this one has. */
  readonly unique: Values;
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

function targetFilter({ scope, unique }: RowTarget, operation: Operation): Filter {
  return every([...valueFilters(scope, operation), every(valueFilters(unique, operation))]);
}
