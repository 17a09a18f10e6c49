/**
 * Reads the data that creates and updates rows.
 *
 * @module
 */
import { type Expression, sql } from "kysely";
import { dbError } from "../errors.ts";
import type { Slot } from "../connection/statement.ts";
import { type AnyField, isFilled } from "../model/model.ts";
import { isPlainObject } from "../model/plain_object.ts";
import type { Operation } from "../query/operation.ts";
import type { Table } from "../query/table.ts";
import type { TableColumn, Values } from "../query/table_column.ts";

/** The most characters of the name of a value in JSON. */
const MAX_PLACE = 256;

/** Sets a version to the next one. */
const NEXT = Symbol("next");

/** What columns are set to, by name. */
export type Assignments = Readonly<Record<string, Slot | Expression<unknown>>>;

/** Increments or decrements a column, or adds to an array. */
class Change {
  readonly operator: "+" | "-" | "push";
  readonly operand: unknown;

  constructor(operator: "+" | "-" | "push", operand: unknown) {
    this.operator = operator;
    this.operand = operand;
  }
}

/**
 * Reads a `CreateInput`, and adds the scope, the defaults, and `null` for missing nullable columns.
 *
 * @throws {TypeError} if it has an unknown column, or one of the scope
 * @throws {DbError} `NotNullViolation` if a value is missing
 */
export function createValues(data: unknown, operation: Operation): Values {
  const tuple = createTuple(data, operation);
  const values = new Map<TableColumn, unknown>();
  for (const [index, column] of operation.table.columns.entries()) {
    if (tuple[index] !== undefined) values.set(column, tuple[index]);
  }
  return values;
}

/**
 * Reads a `CreateInput` as {@linkcode createValues} does, and returns the values in the order of
 * the table's columns; the database sets `undefined`.
 */
export function createTuple(data: unknown, operation: Operation): readonly unknown[] {
  const { table: { columns }, scope, action } = operation;
  const given = dataOf(data, operation);
  const tuple: unknown[] = columns.map(() => undefined);
  for (const name of Object.keys(given)) {
    tuple[givenColumn(name, operation).index] = given[name];
  }
  const missing: string[] = [];
  for (const column of columns) {
    const { name, field, index } = column;
    let value = tuple[index];
    if (value === undefined) {
      value = scope.get(column) ?? defaultOf(field, operation) ??
        (isFilled(field) ? undefined : null);
    }
    tuple[index] = value = outputOf(value, { column, operation });
    if (value === null && !field.flags.has("nullable")) missing.push(name);
  }
  if (missing.length > 0) throw dbError(action, { code: "NotNullViolation", fields: missing });
  return tuple;
}

/**
 * Reads an `UpdateInput`, and adds the time of the update and the next version if it sets anything.
 *
 * @throws {TypeError} if it has an unknown column, one of the scope, the version or the primary key
 * @throws {DbError} `NotNullViolation` if a value is `null` that cannot be
 */
export function updateValues(data: unknown, operation: Operation): Values {
  const values = new Map<TableColumn, unknown>();
  const missing: string[] = [];
  for (const [name, value] of Object.entries(dataOf(data, operation))) {
    const column = givenColumn(name, operation);
    if (value === undefined) continue;
    const { flags } = column.field;
    checkUpdatable(column, operation);
    const given = isPlainObject(value) ? changeIn(value, column) : value;
    const set = outputOf(given, { column, operation });
    if (set === null && !flags.has("nullable")) missing.push(name);
    values.set(column, set);
  }
  if (missing.length > 0) {
    throw dbError(operation.action, { code: "NotNullViolation", fields: missing });
  }
  return values.size > 0
    ? new Map([...values, ...updateStamps([...values.keys()], operation)])
    : values;
}

/** Checks whether data writes related rows. */
export function namesRelation(data: unknown, { relations }: Pick<Table, "relations">): boolean {
  return relations.size > 0 && isPlainObject(data) &&
    Object.keys(data).some((name) => relations.has(name));
}

/** Returns what an update of some columns sets in the others: times, and the next version. */
export function updateStamps(columns: readonly TableColumn[], operation: Operation): Values {
  const { table, scope } = operation;
  const timed = table.columns.filter((column) =>
    column.field.traits.clock === "update" && !columns.includes(column) && !scope.has(column)
  );
  const stamps = new Map<TableColumn, unknown>(timed.map((column) => [column, operation.time()]));
  if (table.version) stamps.set(table.version, NEXT);
  return stamps;
}

/** Returns the values that mark rows as deleted. */
export function markValues(mark: TableColumn, operation: Operation): Values {
  return new Map([[mark, operation.time()], ...updateStamps([mark], operation)]);
}

/** Binds values to be set in a table; `undefined` is the default of the column. */
export function assign(values: Values, operation: Operation): Assignments {
  const assignments: Record<string, Slot | Expression<unknown>> = {};
  for (const [column, value] of values) {
    if (value instanceof Change) {
      assignments[column.column] = changed({ column, difference: value }, operation);
      continue;
    }
    if (value === NEXT) {
      operation.add(`${column.name} next,`);
      assignments[column.column] = sql`${storedIn(column, operation)} + 1`;
      continue;
    }
    if (value === undefined) {
      operation.add(`${column.name} default,`);
      assignments[column.column] = sql.raw(defaultSqlOf(column));
      continue;
    }
    assignments[column.column] = operation.bind(
      `${column.name},`,
      column.store(value, operation.action),
    );
  }
  return assignments;
}

/** SQLite has no DEFAULT in an update. */
function defaultSqlOf({ field: { traits: { defaultSql = "null" } }, grammar }: TableColumn) {
  if (grammar.brand !== "SQLite") return "default";
  return `(${typeof defaultSql === "string" ? defaultSql : defaultSql.sqlite})`;
}

function changed(
  { column, difference }: { readonly column: TableColumn; readonly difference: Change },
  operation: Operation,
): Expression<unknown> {
  const { operator, operand } = difference;
  const { name, field, grammar } = column;
  // the database checks the bounds of a sum
  const encoded = operator === "push"
    ? column.store(operand, operation.action, { isPart: true })
    : column.encode(operand, operation.action);
  const slot = operation.bind(`${name} ${operator},`, encoded);
  const reference = storedIn(column, operation);
  if (operator === "push") return grammar.arrays.push(reference, slot);
  const amount = grammar.operand?.(slot, field) ?? slot;
  const value = sql`${reference} ${sql.raw(operator)} ${amount}`;
  return grammar.checked({ column: reference, value: sql`(${value})`, operator }, field);
}

/** Returns the value that a row has before it is written. */
function storedIn({ column }: TableColumn, { table }: Operation): Expression<unknown> {
  return sql.ref(`${table.rows}.${column}`);
}

/** Returns the change of a column, or the value that it is to have. */
function changeIn(
  value: Readonly<Record<string, unknown>>,
  { rules, field }: TableColumn,
): unknown {
  const isArray = field.kind === "array";
  const [name, ...others] = Object.keys(value).filter((name) => value[name] !== undefined);
  if (others.length > 0 || name === undefined) return value;
  const operand = value[name];
  if (rules.numeric && name === "increment") return new Change("+", operand);
  if (rules.numeric && name === "decrement") return new Change("-", operand);
  if (isArray && name === "set") return operand;
  if (isArray && name === "push") {
    return new Change("push", Array.isArray(operand) ? operand : [operand]);
  }
  return value;
}

/**
 * Returns what a column stores of a value: of JSON with a schema, the output of that.
 *
 * @throws {DbError} `CheckViolation` if the schema refuses the value
 * @throws {TypeError} if the schema is asynchronous
 */
function outputOf(
  value: unknown,
  { column: { name, field: { traits: { of: schema } } }, operation }: {
    readonly column: TableColumn;
    readonly operation: Operation;
  },
): unknown {
  if (schema === undefined || typeof schema === "string") return value;
  if (value === undefined || value === null) return value;
  const result = schema["~standard"].validate(value);
  if (result instanceof Promise) {
    throw operation.mistake(`the schema of ${name} is asynchronous`);
  }
  if (!result.issues) return result.value ?? null;
  const [issue] = result.issues;
  const keys = Array.from(issue?.path ?? [], (it) => String(typeof it === "object" ? it.key : it));
  const place = [name, ...keys].join(".").slice(0, MAX_PLACE);
  const reason = `${place} does not satisfy the schema of ${name}`;
  // A message may quote the value, and a client reads the error.
  const cause = new TypeError(result.issues.map(({ message }) => message).join("; "));
  throw dbError(operation.action, { code: "CheckViolation", fields: [name], reason }, cause);
}

function dataOf(data: unknown, operation: Operation): Readonly<Record<string, unknown>> {
  if (isPlainObject(data)) return data;
  throw operation.mistake("data is not a plain object");
}

/**
 * Returns a column that data sets.
 *
 * @throws {TypeError} if it is unknown, the scope sets it, it is the version, or it marks deleted
 * rows, which are hidden
 */
export function givenColumn(name: string, operation: Operation): TableColumn {
  const column = operation.column(name);
  if (operation.scope.has(column)) throw operation.mistake(`the scope sets ${name}`);
  if (column === operation.table.version) throw operation.mistake(`the repository sets ${name}`);
  if (column === operation.table.mark && !operation.seesDeleted) {
    throw operation.mistake(`delete() sets ${name}, or data of withDeleted()`);
  }
  return column;
}

/**
 * Checks that a column can be updated.
 *
 * @throws {TypeError} if it is of the primary key
 */
export function checkUpdatable(column: TableColumn, operation: Operation): void {
  const { primaryKey } = operation.table;
  if (!primaryKey.includes(column)) return;
  const what = primaryKey.length === 1 ? "the primary key" : "a column of the primary key";
  throw operation.mistake(`${column.name} is ${what}`);
}

function defaultOf({ traits: { defaultValue, clock } }: AnyField, operation: Operation): unknown {
  if (clock !== undefined) return operation.time();
  return typeof defaultValue === "function" ? defaultValue() : defaultValue;
}
