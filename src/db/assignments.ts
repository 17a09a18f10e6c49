/**
 * Reads the data that creates and updates rows.
 *
 * @module
 */
import { dbError } from "./errors.ts";
import { type AnyField, isGenerated } from "./model.ts";
import type { Operation, Slot } from "./operation.ts";
import { isPlainObject } from "./plain_object.ts";
import type { Table, TableColumn, Values } from "./table.ts";

/** What columns are set to, by name. */
export type Assignments = Readonly<Record<string, Slot>>;

/**
 * Reads a `CreateInput`, and adds the scope, the defaults and, for what is nullable, `null`.
 *
 * @throws {TypeError} if it has an unknown column, one of the scope, or a value of another type
 * @throws {DbError} `NotNullViolation` if a value is missing
 */
export function createValues(
  data: unknown,
  scope: Values,
  table: Table,
  operation: Operation,
): Values {
  const tuple = createTuple(data, scope, table, operation);
  const values = new Map<TableColumn, unknown>();
  for (const [index, column] of table.columns.entries()) {
    if (tuple[index] !== undefined) values.set(column, tuple[index]);
  }
  return values;
}

/**
 * Reads a `CreateInput` as {@linkcode createValues} does, and gives the values in the order of the
 * table's columns; `undefined` is generated.
 */
export function createTuple(
  data: unknown,
  scope: Values,
  table: Table,
  operation: Operation,
): readonly unknown[] {
  const { action } = operation;
  const { columns } = table;
  const given = dataOf(data, operation);
  const tuple: unknown[] = columns.map(() => undefined);
  for (const name of Object.keys(given)) {
    tuple[givenColumn(name, scope, table, action).index] = given[name];
  }
  let missing: string[] | undefined;
  for (const column of columns) {
    const { name, field, index } = column;
    let value = tuple[index];
    if (value === undefined) {
      value = scope.get(column) ?? defaultOf(field) ?? (isGenerated(field) ? undefined : null);
      tuple[index] = value;
    }
    if (value === null && !field.flags.has("nullable")) (missing ??= []).push(name);
  }
  if (missing) throw dbError(action, { code: "NotNullViolation", fields: missing });
  return tuple;
}

/**
 * Reads an `UpdateInput`.
 *
 * @throws {TypeError} if it has an unknown column, one of the scope, the primary key, or a value of
 * another type
 * @throws {DbError} `NotNullViolation` if a value is `null` that may not be
 */
export function updateValues(
  data: unknown,
  scope: Values,
  table: Table,
  operation: Operation,
): Values {
  const given = givenValues(data, scope, table, operation);
  for (const { name, field } of given.keys()) {
    if (field.flags.has("primaryKey")) {
      throw new TypeError(`Cannot ${operation.action}: ${name} is the primary key`);
    }
  }
  return checkMissing(given, operation);
}

/** Binds values. */
export function assign(values: Values, operation: Operation): Assignments {
  const assignments: Record<string, Slot> = {};
  for (const [column, value] of values) {
    const encoded = value === null ? null : column.encode(value, operation.action);
    assignments[column.name] = operation.bind(`${column.name},`, encoded);
  }
  return assignments;
}

function givenValues(data: unknown, scope: Values, table: Table, operation: Operation): Values {
  const values = new Map<TableColumn, unknown>();
  for (const [name, value] of Object.entries(dataOf(data, operation))) {
    const column = givenColumn(name, scope, table, operation.action);
    if (value !== undefined) values.set(column, value);
  }
  return values;
}

function dataOf(data: unknown, { action }: Operation): Readonly<Record<string, unknown>> {
  if (isPlainObject(data)) return data;
  throw new TypeError(`Cannot ${action}: data is not a plain object`);
}

function givenColumn(name: string, scope: Values, table: Table, action: string): TableColumn {
  const column = table.column(name, action);
  if (scope.has(column)) throw new TypeError(`Cannot ${action}: the scope sets ${name}`);
  return column;
}

function defaultOf({ traits: { defaultValue } }: AnyField): unknown {
  return typeof defaultValue === "function" ? defaultValue() : defaultValue;
}

function checkMissing(values: Values, { action }: Operation): Values {
  let fields: string[] | undefined;
  for (const [{ name, field }, value] of values) {
    if (value === null && !field.flags.has("nullable")) (fields ??= []).push(name);
  }
  if (fields === undefined) return values;
  throw dbError(action, { code: "NotNullViolation", fields });
}
