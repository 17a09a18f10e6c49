/**
 * Reads conditions: checks a `where` against its table, and tells how to say it in SQL. Of a
 * condition, only names of columns that the model declares become SQL; values are bound.
 *
 * @module
 */
import { isPlainObject, membersOf } from "./plain_object.ts";
import type { Operation } from "./operation.ts";
import { compareFilter, type Filter, operatorFilter } from "./operators.ts";
import type { Table, TableColumn, Values } from "./table.ts";

/**
 * Reads a `Where`.
 *
 * @throws {TypeError} if it has an unknown column or operator, a value of another type, or
 * `undefined` anywhere
 */
export function whereFilter(where: unknown, table: Table, operation: Operation): Filter {
  operation.add("(");
  const filters = membersOf(where, "where", operation).map(([name, value]) =>
    isLogic(name)
      ? logicFilter(name, value, table, operation)
      : columnFilter(table.column(name, operation.action), value, operation)
  );
  operation.add(")");
  return every(filters);
}

/**
 * Reads a `UniqueWhere`.
 *
 * @throws {TypeError} if it has no column, one that is not unique, or a condition that is not equality
 */
export function uniqueValues(where: unknown, table: Table, operation: Operation): Values {
  const { action } = operation;
  const values = new Map<TableColumn, unknown>();
  for (const [name, condition] of membersOf(where, "where", operation)) {
    const column = table.column(name, action);
    const { flags } = column.field;
    if (!flags.has("unique") && !flags.has("primaryKey")) {
      throw new TypeError(`Cannot ${action}: ${name} is not unique`);
    }
    const value = soleOperand(condition);
    column.encode(value, action);
    values.set(column, value);
  }
  if (values.size > 0) return values;
  throw new TypeError(`Cannot ${action}: where names no unique column`);
}

/** Gives the filters of rows whose columns have these values. */
export function valueFilters(values: Values, operation: Operation): readonly Filter[] {
  return Array.from(values, ([column, value]) => compareFilter(column, "=", value, operation));
}

/** Tells whether a `Where` says anything of a column: one that does not may hold for every row. */
export function namesColumn(where: unknown): boolean {
  if (Array.isArray(where)) return where.some(namesColumn);
  return isPlainObject(where) &&
    Object.entries(where).some(([name, value]) => !isLogic(name) || namesColumn(value));
}

/** Holds where all filters hold. */
export function every(filters: readonly Filter[]): Filter {
  return (eb) => eb.and(filters.map((filter) => filter(eb)));
}

function isLogic(name: string): name is "AND" | "OR" | "NOT" {
  return name === "AND" || name === "OR" || name === "NOT";
}

function logicFilter(
  name: "AND" | "OR" | "NOT",
  value: unknown,
  table: Table,
  operation: Operation,
): Filter {
  operation.add(name);
  if (name === "NOT") {
    const filter = whereFilter(value, table, operation);
    return (eb) => eb.not(eb.parens(filter(eb)));
  }
  if (!Array.isArray(value)) {
    throw new TypeError(`Cannot ${operation.action}: ${name} is not a list`);
  }
  operation.add("[");
  const filters = Array.from(value, (part) => whereFilter(part, table, operation));
  operation.add("]");
  return name === "AND" ? every(filters) : (eb) => eb.or(filters.map((filter) => filter(eb)));
}

function columnFilter(column: TableColumn, condition: unknown, operation: Operation): Filter {
  if (!isPlainObject(condition)) return operatorFilter(column, "equals", condition, operation);
  const operators = membersOf(condition, column.name, operation);
  if (operators.length === 0) {
    throw new TypeError(`Cannot ${operation.action}: ${column.name} has no operator`);
  }
  return every(
    operators.map(([operator, operand]) => operatorFilter(column, operator, operand, operation)),
  );
}

/** Unwraps `{ equals: value }`; anything else is left for the column to refuse. */
export function soleOperand(condition: unknown): unknown {
  if (!isPlainObject(condition) || !("equals" in condition)) return condition;
  return Object.keys(condition).length === 1 ? condition.equals : condition;
}
