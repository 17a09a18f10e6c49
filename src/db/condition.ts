/**
 * Reads conditions: checks a `where` against its table, and tells how to say it in SQL. Of a
 * condition, only names of columns that the model declares become SQL; values are bound.
 *
 * @module
 */
import { isPlainObject, membersOf } from "./plain_object.ts";
import type { Operation } from "./operation.ts";
import { compareFilter, type Filter, operatorFilter } from "./operators.ts";
import type { Table, TableColumn } from "./table.ts";

/**
 * Reads a `Where`.
 *
 * @throws {TypeError} if it has an unknown column or operator, a value of another type, or
 * `undefined` anywhere
 */
export function whereFilter(where: unknown, table: Table, operation: Operation): Filter {
  operation.add("(");
  const filters = membersOf(where, "where", operation).map(([name, value]) =>
    name === "AND" || name === "OR" || name === "NOT"
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
export function uniqueFilter(where: unknown, table: Table, operation: Operation): Filter {
  const members = membersOf(where, "where", operation);
  if (members.length === 0) {
    throw new TypeError(`Cannot ${operation.action}: where names no unique column`);
  }
  return every(members.map(([name, condition]) => {
    const column = table.column(name, operation.action);
    const { flags } = column.field;
    if (!flags.has("unique") && !flags.has("primaryKey")) {
      throw new TypeError(`Cannot ${operation.action}: ${name} is not unique`);
    }
    return compareFilter(column, "=", soleOperand(condition), operation);
  }));
}

/** Holds where all filters hold. */
export function every(filters: readonly Filter[]): Filter {
  return (eb) => eb.and(filters.map((filter) => filter(eb)));
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
function soleOperand(condition: unknown): unknown {
  if (!isPlainObject(condition) || !("equals" in condition)) return condition;
  return Object.keys(condition).length === 1 ? condition.equals : condition;
}
