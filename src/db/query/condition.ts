/**
 * Reads conditions: checks a `where` against its table, and builds its SQL. Only names of columns
 * that the model declares become SQL; values are bound.
 *
 * @module
 */
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import { isPlainObject, membersOf } from "../model/plain_object.ts";
import { isUnique } from "../model/model.ts";
import type { Operation } from "./operation.ts";
import {
  compareFilter,
  constantResult,
  type Filter,
  operatorFilter,
  scopeFilter,
} from "./operators.ts";
import type { TableColumn, Values } from "./table.ts";

type Builder = ExpressionBuilder<AnyTables, string>;

/** The most conditions that one expression joins. */
const MAX_WIDTH = 100;
const MAX_DEPTH = 100;

/** The most conditions in an operation: PostgreSQL compiles tens of thousands for minutes. */
const MAX_CONDITIONS = 5000;

/**
 * Reads a `Where`.
 *
 * @throws {TypeError} if it has an unknown column or operator, or `undefined` anywhere
 * @throws {DbError} `CheckViolation` if it has a value of another type
 */
export function whereFilter(where: unknown, operation: Operation): Filter {
  return nestedFilter({ where, depth: 0 }, operation);
}

/**
 * Reads the `where` of options that can omit it.
 *
 * @throws {TypeError} if it is `undefined`, which is an error and not every row
 */
export function givenFilters(
  options: { readonly where?: unknown },
  operation: Operation,
): readonly Filter[] {
  return "where" in options ? [whereFilter(options.where, operation)] : [];
}

/**
 * Reads a `UniqueWhere`.
 *
 * @throws {TypeError} if it has no column, one that is not unique, or a condition that
 * is not equality
 */
export function uniqueValues(where: unknown, operation: Operation): Values {
  const values = new Map<TableColumn, unknown>();
  for (const [name, condition] of membersOf(where, "where", operation)) {
    const column = operation.column(name);
    if (!isUnique(column.field)) throw operation.mistake(`${name} is not unique`);
    const value = soleOperand(condition);
    column.encode(value, operation.action);
    values.set(column, value);
  }
  if (values.size > 0) return values;
  throw operation.mistake("where names no unique column");
}

/** Returns the filters of rows whose columns have these values. */
export function valueFilters(values: Values, operation: Operation): readonly Filter[] {
  return Array.from(
    values,
    ([column, operand]) => compareFilter({ column, operator: "=", operand }, operation),
  );
}

/** Returns the filters of the rows of a scope. */
export function scopeFilters(scope: Values, operation: Operation): readonly Filter[] {
  return Array.from(scope, ([column, operand]) => scopeFilter({ column, operand }, operation));
}

/** Returns the filter of the row in the scope whose unique columns have these values. */
export function uniqueFilter(unique: Values, operation: Operation): Filter {
  return every([
    ...scopeFilters(operation.scope, operation),
    every(valueFilters(unique, operation)),
  ]);
}

/**
 * Checks whether a `Where` names a column in each of its alternatives: one that does not may hold
 * for every row.
 */
export function namesColumn(where: unknown): boolean {
  if (!isPlainObject(where)) return false;
  return Object.entries(where).some(([name, value]) => {
    if (!isLogic(name)) return true;
    if (!Array.isArray(value)) return namesColumn(value);
    return name === "OR" ? value.length > 0 && value.every(namesColumn) : value.some(namesColumn);
  });
}

/**
 * Returns `true` if a valid `Where` holds for every row, regardless of the rows, and `false` if it
 * holds for none: because of an empty list, an empty pattern, or a null test on a column that is
 * not nullable.
 */
export function constantOf(where: unknown, operation: Operation): boolean | undefined {
  if (!isPlainObject(where)) return undefined;
  const constant = (part: unknown) => constantOf(part, operation);
  return all(Object.entries(where), ([name, value]) => {
    if (name === "NOT") return not(constant(value));
    if (name === "OR") return not(all(value as unknown[], (part) => not(constant(part))));
    if (name === "AND") return all(value as unknown[], constant);
    const column = operation.column(name);
    if (!isPlainObject(value)) {
      return constantResult({ column, operator: "equals", operand: value });
    }
    return all(
      Object.entries(value),
      ([operator, operand]) => constantResult({ column, operator, operand }),
    );
  });
}

function all<T>(
  parts: readonly T[],
  constant: (part: T) => boolean | undefined,
): boolean | undefined {
  const constants = parts.map(constant);
  return constants.includes(false) ? false : constants.includes(undefined) ? undefined : true;
}

function not(constant: boolean | undefined): boolean | undefined {
  return constant === undefined ? undefined : !constant;
}

/** Holds where all filters hold. */
export function every(filters: readonly Filter[]): Filter {
  return balanced(filters, (eb, parts) => eb.and(parts));
}

/** Unwraps `{ equals: value }`; the column refuses anything else. */
export function soleOperand(condition: unknown): unknown {
  if (!isPlainObject(condition) || !("equals" in condition)) return condition;
  return Object.keys(condition).length === 1 ? condition.equals : condition;
}

function nestedFilter(
  { where, depth }: { readonly where: unknown; readonly depth: number },
  operation: Operation,
): Filter {
  if (depth > MAX_DEPTH) {
    throw operation.mistake(`where is nested over ${MAX_DEPTH} levels deep`);
  }
  operation.add("(");
  const members = membersOf(where, "where", operation);
  if (members.length === 0) count(1, operation);
  const filters = members.map(([name, value]) =>
    isLogic(name)
      ? logicFilter({ name, value, depth: depth + 1 }, operation)
      : columnFilter({ name, condition: value }, operation)
  );
  operation.add(")");
  return every(filters);
}

/**
 * Databases and compilers recurse into the tree of a condition: a long list must not become deep.
 */
function balanced(
  filters: readonly Filter[],
  join: (eb: Builder, parts: Expression<SqlBool>[]) => Expression<SqlBool>,
): Filter {
  if (filters.length <= MAX_WIDTH) return (eb) => join(eb, filters.map((filter) => filter(eb)));
  const middle = filters.length >> 1;
  const halves = [filters.slice(0, middle), filters.slice(middle)];
  return balanced(halves.map((half) => balanced(half, join)), join);
}

function isLogic(name: string): name is "AND" | "OR" | "NOT" {
  return name === "AND" || name === "OR" || name === "NOT";
}

function logicFilter(
  { name, value, depth }: {
    readonly name: "AND" | "OR" | "NOT";
    readonly value: unknown;
    readonly depth: number;
  },
  operation: Operation,
): Filter {
  operation.add(name);
  if (name === "NOT") {
    const filter = nestedFilter({ where: value, depth }, operation);
    return (eb) => eb.not(eb.parens(filter(eb)));
  }
  if (!Array.isArray(value)) throw operation.mistake(`${name} is not a list`);
  operation.add("[");
  const filters = Array.from(value, (where) => nestedFilter({ where, depth }, operation));
  operation.add("]");
  return name === "AND" ? every(filters) : balanced(filters, (eb, parts) => eb.or(parts));
}

function count(conditions: number, operation: Operation): void {
  if (operation.countConditions(conditions) <= MAX_CONDITIONS) return;
  throw operation.mistake(`where has over ${MAX_CONDITIONS} conditions`);
}

function columnFilter(
  { name, condition }: { readonly name: string; readonly condition: unknown },
  operation: Operation,
): Filter {
  const column = operation.column(name);
  if (!isPlainObject(condition)) {
    count(1, operation);
    return operatorFilter({ column, operator: "equals", operand: condition }, operation);
  }
  const operators = membersOf(condition, column.label, operation);
  if (operators.length === 0) throw operation.mistake(`${column.label} has no operator`);
  count(operators.length, operation);
  return every(
    operators.map(([operator, operand]) =>
      operatorFilter({ column, operator, operand }, operation)
    ),
  );
}
