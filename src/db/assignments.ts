/**
 * Reads the data that creates and updates rows.
 *
 * @module
 */
import { dbError } from "./errors.ts";
import { isPlainObject } from "./plain_object.ts";
import { isGenerated } from "./model.ts";
import type { Operation, Slot } from "./operation.ts";
import type { Table, TableColumn } from "./table.ts";

/** What columns are set to, by name. */
export type Assignments = Readonly<Record<string, Slot>>;

/** The value of columns. */
export type Values = ReadonlyMap<TableColumn, unknown>;

/**
 * Reads a `CreateInput`, and adds the scope and the defaults.
 *
 * @throws {TypeError} if it has an unknown column, one of the scope, or a value of another type
 * @throws {DbError} `NotNullViolation` if a value is missing
 */
export function createAssignments(
  data: unknown,
  scope: Values,
  table: Table,
  operation: Operation,
): Assignments {
  const given = givenValues(data, scope, table, operation);
  const values = new Map<TableColumn, unknown>();
  for (const column of table.columns) {
    const { field } = column;
    const value = scope.get(column) ?? given.get(column);
    if (value !== undefined) values.set(column, value);
    else if (field.flags.has("default")) values.set(column, field.defaultValue);
    else if (!field.flags.has("nullable") && !isGenerated(field)) values.set(column, null);
  }
  return assign(values, operation);
}

/**
 * Reads an `UpdateInput`.
 *
 * @throws {TypeError} if it has an unknown column, one of the scope, the primary key, or a value of
 * another type
 * @throws {DbError} `NotNullViolation` if a value is `null` that may not be
 */
export function updateAssignments(
  data: unknown,
  scope: Values,
  table: Table,
  operation: Operation,
): Assignments {
  const given = givenValues(data, scope, table, operation);
  for (const { name, field } of given.keys()) {
    if (field.flags.has("primaryKey")) {
      throw new TypeError(`Cannot ${operation.action}: ${name} is the primary key`);
    }
  }
  return assign(given, operation);
}

function givenValues(data: unknown, scope: Values, table: Table, { action }: Operation): Values {
  if (!isPlainObject(data)) throw new TypeError(`Cannot ${action}: data is not a plain object`);
  const given = new Map<TableColumn, unknown>();
  for (const [name, value] of Object.entries(data)) {
    const column = table.column(name, action);
    if (scope.has(column)) throw new TypeError(`Cannot ${action}: the scope sets ${name}`);
    if (value !== undefined) given.set(column, value);
  }
  return given;
}

function assign(values: Values, operation: Operation): Assignments {
  const missing = [...values].filter(([{ field }, value]) =>
    value === null && !field.flags.has("nullable")
  );
  if (missing.length > 0) {
    const fields = missing.map(([{ name }]) => name);
    throw dbError(operation.action, { code: "NotNullViolation", fields });
  }
  const assignments: Record<string, Slot> = {};
  for (const [column, value] of values) {
    const encoded = value === null ? null : column.encode(value, operation.action);
    assignments[column.name] = operation.bind(`${column.name},`, encoded);
  }
  return assignments;
}
