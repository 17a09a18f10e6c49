/**
 * Reads the operators on a column, and tells how to say them in SQL.
 *
 * @module
 */
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { AnyTables, TextMatch } from "../connection/dialect.ts";
import type { Operation, Slot } from "../connection/operation.ts";
import type { TableColumn } from "./table.ts";

/** Says a condition in SQL. */
export type Filter = (eb: ExpressionBuilder<AnyTables, string>) => Expression<SqlBool>;

const COMPARISONS = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

/** Shorter lists are padded to a power of two, longer ones to a multiple of this. */
const LIST_STEP = 4096;

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
  if (!column.rules.comparable && operand !== null && operator !== "isNull") {
    throw new TypeError(`Cannot ${operation.action}: ${column.name} is compared with null only`);
  }
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
  return (eb) => eb(column.name, operator, operandOf(slot, column));
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
  operation.add(`${column.name} ${operator} `);
  const slots = bindList(column, operands, operation);
  operation.add(",");
  if (slots.length === 0) return (eb) => operator === "in" ? eb.or([]) : eb.and([]);
  return (eb) => eb(column.name, operator, slots.map((slot) => operandOf(slot, column)));
}

/** Binds the values of a list. */
export function bindList(
  column: TableColumn,
  operands: readonly unknown[],
  operation: Operation,
): readonly Slot[] {
  const values = Array.from(operands, (operand) => column.encode(operand, operation.action));
  // Saying the last value again changes nothing, and lists of about the same length share their SQL.
  const padded = values.length <= LIST_STEP
    ? 2 ** Math.ceil(Math.log2(values.length))
    : Math.ceil(values.length / LIST_STEP) * LIST_STEP;
  // A list that just fits is not made longer than what fits.
  const left = column.grammar.maxParameters - operation.values.length;
  const length = Math.max(values.length, Math.min(padded, left));
  operation.add(`${length}`);
  return Array.from(
    { length },
    (_, index) => operation.bind("?", values[Math.min(index, values.length - 1)]),
  );
}

function operandOf(slot: Slot, { grammar, field }: TableColumn): unknown {
  return grammar.operand?.(slot, field) ?? slot;
}

function textFilter(
  column: TableColumn,
  match: TextMatch,
  operand: unknown,
  operation: Operation,
): Filter {
  const { grammar, name } = column;
  const text = String(column.encode(operand, operation.action));
  const slot = operation.bind(`${name} ${match},`, grammar.pattern(match, text));
  return (eb) => grammar.matches(match, eb.ref(name), slot);
}
