/**
 * Reads conditions: checks a `where` against its table, and builds its SQL. Only names of columns
 * that the model declares become SQL; values are bound.
 *
 * @module
 */
import { type Expression, expressionBuilder, sql, type SqlBool } from "kysely";
import { isUnique } from "../model/model.ts";
import { isPlainObject, membersOf } from "../model/plain_object.ts";
import { arrayFilter } from "./array_filter.ts";
import { either, every } from "./filters.ts";
import { jsonFilter } from "./json_filter.ts";
import { keyOf } from "./key.ts";
import type { Operation } from "./operation.ts";
import { type Builder, type Filter, operatorFilter, readMode } from "./operators.ts";
import { asksForRow, isLogic, type RelationMember, toOneMembers } from "./constant_condition.ts";
import { one, relatedRows } from "./related_rows.ts";
import type { TableRelation } from "./table.ts";
import type { TableColumn, Values } from "./table_column.ts";

/** A condition in another one. */
interface Nested {
  readonly where: unknown;
  /** What it is called in error messages. */
  readonly name: string;
  readonly depth: number;
  /** Whether each row of the result meets it. */
  readonly isMet: boolean;
}

/** A member of a condition. */
interface Member {
  readonly name: string;
  readonly value: unknown;
  readonly depth: number;
  readonly isMet: boolean;
}

/** A function of a condition, which may return anything. */
type KyselyFunction = (eb: Builder) => unknown;

const MANY_OPERATORS: readonly string[] = ["some", "every", "none"];

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
  return nestedFilter({ where, name: "where", depth: 0, isMet: true }, operation);
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
 * @throws {TypeError} if it has no column, one that is not unique, a part of a key, or a condition
 * that is not equality
 */
export function uniqueValues(where: unknown, operation: Operation): Values {
  const values = new Map<TableColumn, unknown>();
  for (const [name, condition] of membersOf(where, "where", operation)) {
    const columns = keyColumns(name, operation);
    const parts = columns.length > 1
      ? partsOf({ name, condition, columns }, operation)
      : [condition];
    for (const [index, column] of columns.entries()) {
      const value = soleOperand(parts[index]);
      column.encode(value, operation.action);
      if (values.has(column) && keyOf(column, values.get(column)) !== keyOf(column, value)) {
        throw operation.mistake(`where has two values of ${column.name}`);
      }
      values.set(column, value);
    }
  }
  if (values.size > 0) return values;
  throw operation.mistake("where names no unique column");
}

/**
 * Reads the `where` of an update or a delete: a `UniqueWhere`, and the version that the row must
 * have, unless that is `undefined`.
 *
 * @throws {TypeError} as `uniqueValues`
 */
export function targetValues(where: unknown, operation: Operation): Values {
  const { version } = operation.table;
  if (!version || !isPlainObject(where) || !Object.hasOwn(where, version.name)) {
    return uniqueValues(where, operation);
  }
  const { [version.name]: condition, ...key } = where;
  const unique = uniqueValues(key, operation);
  if (condition === undefined) return unique;
  const value = soleOperand(condition);
  version.check(value, operation.action);
  return new Map([...unique, [version, value]]);
}

/**
 * Returns the columns of a unique column or a key.
 *
 * @throws {TypeError} if there is no column or key of that name
 */
export function keyColumns(name: string, operation: Operation): readonly TableColumn[] {
  const key = operation.table.keys.get(name);
  if (key) return key;
  const column = operation.column(name);
  if (isUnique(column.field)) return [column];
  const isKeyless = operation.table.primaryKey.length === 0;
  throw operation.mistake(isKeyless ? "the model has no key" : `${name} is not unique`);
}

/** Returns the values that a condition has for each column of a key. */
function partsOf(
  { name, condition, columns }: {
    readonly name: string;
    readonly condition: unknown;
    readonly columns: readonly TableColumn[];
  },
  operation: Operation,
): readonly unknown[] {
  const parts = new Map(membersOf(condition, name, operation));
  for (const part of parts.keys()) {
    if (columns.some((column) => column.name === part)) continue;
    throw operation.mistake(`${name} has no column ${JSON.stringify(part)}`);
  }
  const missing = columns.filter((column) => !parts.has(column.name));
  if (missing.length === 0) return columns.map((column) => parts.get(column.name));
  throw operation.mistake(`${name} lacks ${missing.map((column) => column.name).join(", ")}`);
}

/** Unwraps `{ equals: value }`; the column refuses anything else. */
export function soleOperand(condition: unknown): unknown {
  if (!isPlainObject(condition) || !("equals" in condition)) return condition;
  return Object.keys(condition).length === 1 ? condition.equals : condition;
}

function nestedFilter({ where, name, depth, isMet }: Nested, operation: Operation): Filter {
  if (depth > MAX_DEPTH) {
    throw operation.mistake(`where is nested over ${MAX_DEPTH} levels deep`);
  }
  operation.add("(");
  const members = membersOf(where, name, operation);
  if (members.length === 0) count(1, operation);
  const filters = members.map(([name, value]) => {
    const relation = operation.table.relations.get(name);
    const member = { value, depth: depth + 1, isMet };
    if (relation) return relationFilter({ ...member, name, relation }, operation);
    return isLogic(name)
      ? logicFilter({ ...member, name, isMet: isMet && name === "AND" }, operation)
      : columnFilter({ name, condition: value }, operation);
  });
  operation.add(")");
  return every(filters);
}

function logicFilter(
  { name, value, depth, isMet }: Member & { readonly name: "AND" | "OR" | "NOT" },
  operation: Operation,
): Filter {
  operation.add(name);
  const nested = (where: unknown) =>
    typeof where === "function"
      ? kyselyFilter(where as KyselyFunction, operation)
      : nestedFilter({ where, name: "where", depth, isMet }, operation);
  if (name === "NOT") {
    const filter = nested(value);
    return (eb) => eb.not(eb.parens(filter(eb)));
  }
  if (!Array.isArray(value)) throw operation.mistake(`${name} is not a list`);
  operation.add("[");
  const filters = Array.from(value, nested);
  operation.add("]");
  return name === "AND" ? every(filters) : either(filters);
}

/** Reads a function that builds an expression. */
function kyselyFilter(build: KyselyFunction, operation: Operation): Filter {
  const { rows, table: { name, rows: own } } = operation;
  if (rows !== own) throw operation.mistake(`a function cannot refer to ${name} inside ${name}`);
  count(1, operation);
  operation.addUnknown();
  const expression = build(expressionBuilder());
  if (!isExpression(expression)) {
    throw operation.mistake("a function in where returns no expression");
  }
  // In parentheses, its OR cannot go beyond a scope.
  return (eb) => eb.parens(expression);
}

function isExpression(value: unknown): value is Expression<SqlBool> {
  return typeof value === "object" && value !== null && "toOperationNode" in value;
}

function relationFilter(
  { name, relation, value, depth, isMet }: Member & { readonly relation: TableRelation },
  operation: Operation,
): Filter {
  const members = relationMembers({ name, relation, value }, operation);
  count(members.length, operation);
  return every(members.map(([operator, where]) => {
    const isNull = where === null && relation.kind !== "many";
    const related = { name: `${name} ${operator}${isNull ? " null" : ""}`, relation };
    const { operation: inner, query, keys } = relatedRows(related, operation);
    const filter = isNull
      ? every([])
      : nestedFilter({ where, name: `${name}.${operator}`, depth, isMet: false }, inner);
    const met: Filter = operator === "every"
      ? (eb) => sql<SqlBool>`${eb.parens(filter(eb))} is not true`
      : filter;
    const found: Filter = (eb) => eb.exists(query(eb, met).select(one));
    if (!asksForRow(operator, where)) return (eb) => eb.not(found(eb));
    const exists: Filter = mayJoin(relation, operation)
      ? found
      : (eb) => eb(found(eb), "=", eb.lit(1));
    // Only a condition that each row of the result meets can drive the query.
    if (!isMet || isNull) return exists;
    const driving = { relation, keys: (eb: Builder) => keys(eb, filter), isRowByRow: false };
    operation.driving.push(driving);
    // OFFSET 0 keeps PostgreSQL from rewriting the subquery as a join.
    const rowByRow: Filter = (eb) =>
      eb.exists(query(eb, met).select(one).limit(eb.lit(1)).offset(eb.lit(0)));
    return (eb) => driving.isRowByRow ? rowByRow(eb) : exists(eb);
  }));
}

/** Checks whether the rows of a condition may be joined: see `Grammar.multipliesJoined`. */
function mayJoin({ kind }: TableRelation, operation: Operation): boolean {
  if (kind !== "many" || !operation.table.connection.grammar.multipliesJoined) return true;
  const isFirst = !operation.joinsMany;
  operation.joinsMany = true;
  return isFirst;
}

/** Returns the operators on a relation, each with its condition, or `null`. */
function relationMembers(
  { name, relation: { kind }, value }: Pick<Member, "name" | "value"> & {
    readonly relation: TableRelation;
  },
  operation: Operation,
): readonly RelationMember[] {
  if (kind !== "many") {
    if (value !== null) membersOf(value, name, operation);
    return toOneMembers(value);
  }
  const members = membersOf(value, name, operation);
  for (const [operator] of members) {
    if (MANY_OPERATORS.includes(operator)) continue;
    throw operation.mistake(`${name} takes no ${JSON.stringify(operator)}`);
  }
  if (members.length === 0) throw operation.mistake(`${name} has no operator`);
  return members;
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
  const filterOf = column.field.kind === "array" ? arrayFilter : operatorFilter;
  if (!isPlainObject(condition)) {
    count(1, operation);
    return filterOf({ column, operator: "equals", operand: condition }, operation);
  }
  if (column.field.kind === "json" && condition.path !== undefined) {
    count(Object.values(condition).flat().length, operation);
    return jsonFilter({ column, condition }, operation);
  }
  const operators = membersOf(condition, column.label, operation)
    .filter(([operator]) => operator !== "mode");
  if (operators.length === 0) throw operation.mistake(`${column.label} has no operator`);
  count(operators.length, operation);
  const ignoresCase = "mode" in condition &&
    readMode({ column, mode: condition.mode }, operation);
  return every(operators.map(([operator, operand]) => {
    if (operator === "hasSome" && Array.isArray(operand)) count(operand.length, operation);
    return filterOf({ column, operator, operand, ignoresCase }, operation);
  }));
}
