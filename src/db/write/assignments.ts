/**
 * Reads the data that creates and updates rows.
 *
 * @module
 */
import { type Expression, sql } from "kysely";
import { dbError } from "../errors.ts";
import { type AnyField, isGenerated } from "../model/model.ts";
import type { Operation, Slot } from "../connection/operation.ts";
import { isPlainObject } from "../model/plain_object.ts";
import type { Table, TableColumn, Values } from "../query/table.ts";

/** What columns are set to, by name. */
export type Assignments = Readonly<Record<string, Slot | Expression<unknown>>>;

/** Adds to what a column holds, or takes from it. */
class Difference {
  readonly operator: "+" | "-";
  readonly operand: unknown;

  constructor(operator: "+" | "-", operand: unknown) {
    this.operator = operator;
    this.operand = operand;
  }
}

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
  const missing: string[] = [];
  for (const column of columns) {
    const { name, field, index } = column;
    let value = tuple[index];
    if (value === undefined) {
      value = scope.get(column) ?? defaultOf(field) ?? (isGenerated(field) ? undefined : null);
      tuple[index] = value;
    }
    if (value === null && !field.flags.has("nullable")) missing.push(name);
  }
  if (missing.length > 0) throw dbError(action, { code: "NotNullViolation", fields: missing });
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
  const { action } = operation;
  const values = new Map<TableColumn, unknown>();
  const missing: string[] = [];
  for (const [name, value] of Object.entries(dataOf(data, operation))) {
    const column = givenColumn(name, scope, table, action);
    if (value === undefined) continue;
    const { flags } = column.field;
    if (flags.has("primaryKey")) {
      throw new TypeError(`Cannot ${action}: ${name} is the primary key`);
    }
    if (value === null && !flags.has("nullable")) missing.push(name);
    values.set(column, isPlainObject(value) ? differenceIn(value, column) ?? value : value);
  }
  if (missing.length > 0) throw dbError(action, { code: "NotNullViolation", fields: missing });
  return values;
}

/** Binds values to be set in a table. */
export function assign(values: Values, table: Table, operation: Operation): Assignments {
  const assignments: Record<string, Slot | Expression<unknown>> = {};
  for (const [column, value] of values) {
    if (value instanceof Difference) {
      assignments[column.name] = changed(column, value, table, operation);
      continue;
    }
    const encoded = value === null ? null : column.encode(value, operation.action);
    assignments[column.name] = operation.bind(`${column.name},`, encoded);
  }
  return assignments;
}

function changed(
  column: TableColumn,
  { operator, operand }: Difference,
  table: Table,
  operation: Operation,
): Expression<unknown> {
  const { name, field, grammar } = column;
  const slot = operation.bind(`${name} ${operator},`, column.encode(operand, operation.action));
  const amount = grammar.operand?.(slot, field) ?? slot;
  return sql`${sql.ref(`${table.name}.${name}`)} ${sql.raw(operator)} ${amount}`;
}

function differenceIn(
  value: Readonly<Record<string, unknown>>,
  { rules }: TableColumn,
): Difference | undefined {
  if (!rules.numeric) return undefined;
  const [name, ...others] = Object.keys(value).filter((name) => value[name] !== undefined);
  if (others.length > 0) return undefined;
  if (name === "increment") return new Difference("+", value[name]);
  if (name === "decrement") return new Difference("-", value[name]);
  return undefined;
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
