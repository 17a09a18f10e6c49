/**
 * Reads the operators on a column, and tells how to say them in SQL.
 *
 * @module
 */
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { AnyTables } from "./connection.ts";
import type { TextMatch } from "./dialect.ts";
import type { Operation } from "./operation.ts";
import type { TableColumn } from "./table.ts";

/** Says a condition in SQL. */
export type Filter = (eb: ExpressionBuilder<AnyTables, string>) => Expression<SqlBool>;

const COMPARISONS = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;
const MAX_PADDED_LIST = 1024;

/**
 * Reads one operator.
 *
 * @throws {TypeError} if the column has no such operator, or the operand is of another type
 */
export function operatorFilter(
  column: TableColumn,
  operator: string,
  operand: unknown,
  operation: Operation,
): Filter {
  switch (operator) {
    case "equals":
      if (operand === null) return nullFilter(column, "is", operation);
      return compareFilter(column, "=", operand, operation);
    case "not":
      if (operand === null) return nullFilter(column, "is not", operation);
      return compareFilter(column, "!=", operand, operation);
    case "isNull":
      if (typeof operand !== "boolean") break;
      return nullFilter(column, operand ? "is" : "is not", operation);
    case "in":
      if (!Array.isArray(operand)) break;
      return listFilter(column, "in", operand, operation);
    case "notIn":
      if (!Array.isArray(operand)) break;
      return listFilter(column, "not in", operand, operation);
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      if (!column.rules.ordered) break;
      return compareFilter(column, COMPARISONS[operator], operand, operation);
    case "contains":
    case "startsWith":
    case "endsWith":
      if (column.field.kind !== "text") break;
      return textFilter(column, operator, operand, operation);
  }
  throw new TypeError(
    `Cannot ${operation.action}: ${column.name} takes no ${JSON.stringify(operator)} of ` +
      `${operand === null ? "null" : typeof operand}`,
  );
}

/** Compares a column with a value. */
export function compareFilter(
  column: TableColumn,
  operator: "=" | "!=" | "<" | "<=" | ">" | ">=",
  operand: unknown,
  operation: Operation,
): Filter {
  const value = column.encode(operand, operation.action);
  const slot = operation.bind(`${column.name} ${operator},`, value);
  return (eb) => eb(column.name, operator, slot);
}

function nullFilter(
  { name }: TableColumn,
  operator: "is" | "is not",
  operation: Operation,
): Filter {
  operation.add(`${name} ${operator} null,`);
  return (eb) => eb(name, operator, null);
}

function listFilter(
  column: TableColumn,
  operator: "in" | "not in",
  operands: readonly unknown[],
  operation: Operation,
): Filter {
  // Saying the last value again changes nothing, and lists of about the same length share their SQL.
  const { length } = operands;
  const size = length > MAX_PADDED_LIST ? length : 2 ** Math.ceil(Math.log2(length));
  operation.add(`${column.name} ${operator} `);
  const slots = Array.from({ length: size }, (_, index) => {
    const operand = operands[Math.min(index, length - 1)];
    return operation.bind("?", column.encode(operand, operation.action));
  });
  operation.add(",");
  if (size === 0) return (eb) => operator === "in" ? eb.or([]) : eb.and([]);
  return (eb) => eb(column.name, operator, slots);
}

function textFilter(
  column: TableColumn,
  match: TextMatch,
  operand: unknown,
  operation: Operation,
): Filter {
  const { dialect, name } = column;
  const text = String(column.encode(operand, operation.action));
  const slot = operation.bind(`${name} like,`, dialect.pattern(match, text));
  return (eb) => dialect.matches(eb.ref(name), slot);
}
