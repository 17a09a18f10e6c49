/**
 * Reads the operators on a column, and builds their SQL.
 *
 * @module
 */
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import type { ListOperator, TextMatch } from "../connection/grammar.ts";
import type { Slot } from "../connection/statement.ts";
import type { Operation } from "./operation.ts";
import type { TableColumn } from "./table_column.ts";

/** Builds parts of a query of any tables. */
export type Builder = ExpressionBuilder<AnyTables, string>;

/** Builds the SQL of a condition. */
export type Filter = (eb: Builder) => Expression<SqlBool>;

/** A condition on a column. */
export interface Comparison<O extends string> {
  /** The column. */
  readonly column: TableColumn;
  /** What the column is compared by. */
  readonly operator: O;
  /** The value from the caller. */
  readonly operand: unknown;
  /** Whether A to Z are equal to a to z; the operand is in lower case then. */
  readonly ignoresCase?: boolean | undefined;
}

/** The SQL of the operators of an order. */
export const COMPARISONS = { lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

/**
 * Reads one operator.
 *
 * @throws {TypeError} if the column has no such operator
 * @throws {DbError} `CheckViolation` if the operand is of another type
 */
export function operatorFilter(
  { operand: given, ignoresCase = false, ...comparison }: Comparison<string>,
  operation: Operation,
): Filter {
  const { column, operator } = comparison;
  const operand = ignoresCase ? lowerCase(given) : given;
  if (!column.rules.comparable && operand !== null && operator !== "isNull") {
    throw operation.mistake(`${column.label} is compared with null only`);
  }
  switch (operator) {
    case "equals":
      if (operand === null) return nullFilter({ column, operator: "is" }, operation);
      return compareFilter({ column, operator: "=", operand, ignoresCase }, operation);
    case "not":
      if (operand === null) return nullFilter({ column, operator: "is not" }, operation);
      return compareFilter({ column, operator: "!=", operand, ignoresCase }, operation);
    case "isNull":
      if (typeof operand !== "boolean") break;
      return nullFilter({ column, operator: operand ? "is" : "is not" }, operation);
    case "in":
      if (!Array.isArray(operand)) break;
      return listFilter({ column, operator: "in", operand, ignoresCase }, operation);
    case "notIn":
      if (!Array.isArray(operand)) break;
      return listFilter({ column, operator: "not in", operand, ignoresCase }, operation);
    case "lt":
    case "lte":
    case "gt":
    case "gte":
      if (!column.rules.ordered) break;
      return compareFilter(
        { column, operator: COMPARISONS[operator], operand, ignoresCase },
        operation,
      );
    case "contains":
    case "startsWith":
    case "endsWith":
      if (column.field.kind !== "text") break;
      return textFilter({ column, operator, operand, ignoresCase }, operation);
  }
  throw operation.mistake(
    `${column.label} takes no ${JSON.stringify(operator)} of ` +
      `${operand === null ? "null" : typeof operand}`,
  );
}

/**
 * Reads the `mode` of a condition or an order: whether it ignores the case of letters.
 *
 * @throws {TypeError} if the mode is unknown, or the column has no text
 */
export function readMode(
  { column: { label, field }, mode }: { readonly column: TableColumn; readonly mode: unknown },
  operation: Operation,
): boolean {
  const isInsensitive = mode === "insensitive";
  if (field.kind === "text" && (isInsensitive || mode === "default")) return isInsensitive;
  throw operation.mistake(`${label} takes no mode ${JSON.stringify(mode)}`);
}

/** Returns text, or a list of texts, with the letters A to Z in lower case. */
export function lowerCase(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, lowerCase);
  return typeof value === "string"
    ? value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    : value;
}

/**
 * Returns `true` if a valid condition on a column holds for every row, regardless of the rows, and
 * `false` if it holds for none.
 */
export function constantResult(
  { column: { field }, operator, operand }: Comparison<string>,
): boolean | undefined {
  if (operator === "mode") return true;
  if (Array.isArray(operand)) {
    if (operand.length > 0 || operator === "equals" || operator === "not") return undefined;
    return operator === "notIn" || operator === "hasEvery";
  }
  if (field.flags.has("nullable")) return undefined;
  if (operator === "isNull") return operand !== true;
  if (operand === null) return operator === "not";
  const isPattern = ["contains", "startsWith", "endsWith"].includes(operator);
  return isPattern && operand === "" ? true : undefined;
}

/** Compares a column with a value. */
export function compareFilter(
  { column, operator, operand, ignoresCase }: Comparison<"=" | "!=" | "<" | "<=" | ">" | ">=">,
  operation: Operation,
): Filter {
  const value = column.encode(operand, operation.action);
  const isRange = operator === "=" && !ignoresCase && operation.ranged?.has(column);
  const name = isRange ? "between" : `${caseOf(ignoresCase)}${operator}`;
  const slot = operation.bind(`${column.name} ${name},`, value);
  const text = valueOf({ column, ignoresCase }, operation.ref(column));
  const compared = operandOf(slot, column);
  return isRange
    ? (eb) => eb.and([eb(text(eb), ">=", compared), eb(text(eb), "<=", compared)])
    : (eb) => eb(text(eb), operator, compared);
}

/** Compares a column with the value of a scope, which no collation may confuse with another. */
export function scopeFilter(
  { column, operand, of }: Omit<Comparison<"=">, "operator"> & {
    /** The table, where the name of the column alone has two meanings. */
    readonly of?: string | undefined;
  },
  operation: Operation,
): Filter {
  const { name, field: { kind }, grammar } = column;
  const isRange = operation.ranged?.has(column) ?? false;
  const isText = kind === "text" || kind === "enum";
  if (!isText && of === undefined) {
    return compareFilter({ column, operator: "=", operand }, operation);
  }
  const part = `${name} exactly${isRange ? " between" : ""},`;
  const slot = operation.bind(part, column.encode(operand, operation.action));
  const ref = of === undefined ? operation.ref(column) : `${of}.${column.column}`;
  return (eb) =>
    isText
      ? grammar.exactly(eb.ref(ref), slot, { isRange })
      : eb(ref, "=", operandOf(slot, column));
}

/** Binds a list of values; returns a function from the column's name to the condition. */
export function bindList(
  { column, operator, operand, ignoresCase }: Comparison<ListOperator> & {
    readonly operand: readonly unknown[];
  },
  operation: Operation,
): (name: string) => Filter {
  const { grammar: { list, maxParameters }, field } = column;
  const { kind } = field;
  const valueIn = (name: string) => valueOf({ column, ignoresCase }, name);
  if (operand.length >= list.minLength && !list.unlisted.includes(kind)) {
    // `for…of` also visits the holes of a sparse list.
    for (const value of operand) column.check(value, operation.action);
    const slot = operation.bind("[]", list.encode(operand, field));
    return (name) => (eb) => list.matches(valueIn(name)(eb), slot, { operator, kind });
  }
  const values = Array.from(operand, (value) => column.encode(value, operation.action));
  // Repeating the last value changes nothing, and lists of about the same length share their SQL.
  // A list that just fits is not padded beyond the limit.
  const padded = Math.min(2 ** Math.ceil(Math.log2(values.length)), maxParameters - operation.size);
  const length = Math.max(values.length, padded);
  operation.add(`${length}`);
  const slots = Array.from(
    { length },
    (_, index) => operation.bind("?", values[Math.min(index, values.length - 1)]),
  );
  return (name) => (eb) =>
    eb(valueIn(name)(eb), operator, slots.map((slot) => operandOf(slot, column)));
}

function nullFilter(
  { column, operator }: Omit<Comparison<"is" | "is not">, "operand">,
  operation: Operation,
): Filter {
  operation.add(`${column.name} ${operator} null,`);
  const ref = operation.ref(column);
  return (eb) => eb(ref, operator, null);
}

function listFilter(
  { column, operator, operand, ignoresCase }: Comparison<ListOperator> & {
    readonly operand: readonly unknown[];
  },
  operation: Operation,
): Filter {
  operation.add(`${column.name} ${caseOf(ignoresCase)}${operator} `);
  const compare = operand.length > 0 &&
    bindList({ column, operator, operand, ignoresCase }, operation);
  operation.add(",");
  if (compare) return compare(operation.ref(column));
  return (eb) => operator === "in" ? eb.or([]) : eb.and([]);
}

function textFilter(
  { column, operator: match, operand, ignoresCase }: Comparison<TextMatch>,
  operation: Operation,
): Filter {
  const { grammar, name } = column;
  const text = String(column.encode(operand, operation.action));
  const shape = `${name} ${caseOf(ignoresCase)}${match},`;
  const matches = grammar.matching(match, text, (bound) => operation.bind(shape, bound));
  const value = valueOf({ column, ignoresCase }, operation.ref(column));
  return (eb) => matches(value(eb));
}

/** Returns the value of a column by its name in the SQL, in lower case if case is ignored. */
function valueOf(
  { column: { grammar }, ignoresCase }: Pick<Comparison<string>, "column" | "ignoresCase">,
  name: string,
): (eb: Builder) => Expression<unknown> {
  return (eb) => ignoresCase ? grammar.lower(eb.ref(name)) : eb.ref(name);
}

/** Returns what distinguishes the shape of a condition that ignores case. */
function caseOf(ignoresCase = false): string {
  return ignoresCase ? "insensitive " : "";
}

/** Returns the operand of a comparison with the value of a slot. */
export function operandOf(slot: Slot, { grammar, field }: TableColumn): unknown {
  return grammar.operand?.(slot, field) ?? slot;
}
