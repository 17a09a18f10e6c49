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
  const given = givenValues(data, scope, table, operation);
  const values = new Map<TableColumn, unknown>();
  for (const column of table.columns) {
    const said = scope.get(column) ?? given.get(column);
    const value = said === undefined ? defaultOf(column.field) : said;
    if (value !== undefined) values.set(column, value);
    else if (!isGenerated(column.field)) values.set(column, null);
  }
  return checkMissing(values, operation);
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

function defaultOf({ traits: { defaultValue } }: AnyField): unknown {
  return typeof defaultValue === "function" ? defaultValue() : defaultValue;
}

function checkMissing(values: Values, { action }: Operation): Values {
  const missing = [...values].filter(([{ field }, value]) =>
    value === null && !field.flags.has("nullable")
  );
  if (missing.length === 0) return values;
  const fields = missing.map(([{ name }]) => name);
  throw dbError(action, { code: "NotNullViolation", fields });
}
