/**
 * Reads the options of a find: the columns, the order and the bounds of its rows.
 *
 * @module
 */
import type { AliasableExpression } from "kysely";
import type { Slot } from "../connection/statement.ts";
import type { SortOrder } from "../model/model.ts";
import { checkOptions, isPlainObject, membersOf } from "../model/plain_object.ts";
import { every } from "./filters.ts";
import type { Operation } from "./operation.ts";
import { type Builder, readMode } from "./operators.ts";
import { relatedRows } from "./related_rows.ts";
import type { TableRelation } from "./table.ts";
import { countOfRows, type TableColumn } from "./table_column.ts";

/** A value of an order, and its direction. */
export interface OrderTerm {
  /** The name of its column in the SQL; that of a value of related rows is no name of a column. */
  readonly name: string;
  /** The column, if it is one of the table. */
  readonly column?: TableColumn;
  /** The direction. */
  readonly direction: SortOrder;
  /** Whether it can be `null`. */
  readonly isNullable: boolean;
  /** Builds the value, if it is not that of the column: that of related rows, or in lower case. */
  readonly value?: (eb: Builder) => AliasableExpression<unknown>;
  /** The column whose text is compared in lower case. */
  readonly lowered?: TableColumn;
}

/** The order and the bounds: members of `FindManyOptions`. */
export interface PageOptions {
  /** An order or a list of them. */
  readonly orderBy?: unknown;
  /** How many rows at most. */
  readonly take?: number | undefined;
  /** How many rows to leave out first. */
  readonly skip?: number | undefined;
}

/**
 * Reads a `select`, and adds the columns that relations need.
 *
 * @throws {TypeError} if it has an unknown column, or a value that is not `true`
 */
export function readSelection(
  { select, needed }: { readonly select: unknown; readonly needed: readonly TableColumn[] },
  operation: Operation,
): readonly TableColumn[] {
  const { table } = operation;
  if (select === undefined) return table.columns;
  const columns = new Set(needed);
  const members = membersOf(select, "select", operation);
  if (members.length === 0) throw operation.mistake("select names no column");
  for (const [name, value] of members) {
    const column = operation.column(name);
    if (value !== true) throw operation.mistake(`select.${name} is not true`);
    columns.add(column);
  }
  // Rows have the order of the model.
  const selected = table.columns.filter((column) => columns.has(column));
  operation.section(`select ${selected.map(({ name }) => name)}`);
  return selected;
}

/** Deletes from rows the columns that were read for relations only. */
export function dropUnselected(
  rows: readonly Record<string, unknown>[],
  { select, columns }: { readonly select: unknown; readonly columns: readonly TableColumn[] },
): void {
  if (select === undefined) return;
  const selected = select as Readonly<Record<string, unknown>>;
  const extra = columns.map(({ name }) => name).filter((name) => selected[name] !== true);
  for (const row of rows) for (const name of extra) delete row[name];
}

/** Checks whether there are bounds. */
export function isBounded({ take, skip }: PageOptions): boolean {
  return take !== undefined || skip !== undefined;
}

/**
 * Reads the order; a total one ends with the columns of the primary key that it lacks. They are
 * ascending, or have the direction of the last column: one index has them all then.
 *
 * @throws {TypeError} if it has an unknown column, one without an order, or an unknown direction
 */
export function readOrder(
  { orderBy = {}, isTotal, tiesFollow = false }: {
    readonly orderBy: unknown;
    readonly isTotal: boolean;
    readonly tiesFollow?: boolean;
  },
  operation: Operation,
): readonly OrderTerm[] {
  const { table: { primaryKey } } = operation;
  operation.section("order");
  const order = new Map<string, OrderTerm>();
  for (const part of Array.isArray(orderBy) ? orderBy : [orderBy]) {
    for (const term of readTerms({ order: part, subject: "orderBy" }, operation)) {
      if (!order.has(term.name)) order.set(term.name, term);
    }
  }
  const last = tiesFollow ? [...order.values()].at(-1) : undefined;
  for (const column of isTotal ? primaryKey : []) {
    if (order.has(column.column)) continue;
    const direction = last?.direction ?? "asc";
    order.set(column.column, columnTerm({ column, direction }, operation));
  }
  // Kysely would take the point of "author.name" for that of a column of a table.
  return Array.from(
    order.values(),
    (term, index) => term.value ? { ...term, name: `~${index}` } : term,
  );
}

/** Returns the terms of an order by the names that they have in a query of the rows they order. */
export function namedTerms(order: readonly OrderTerm[]): readonly OrderTerm[] {
  return order.map(({ value: _, ...term }) => term);
}

function readTerms(
  { order, subject }: { readonly order: unknown; readonly subject: string },
  operation: Operation,
): readonly OrderTerm[] {
  return membersOf(order, subject, operation).flatMap(([name, value]) => {
    const relation = operation.table.relations.get(name);
    if (!relation) {
      return columnTerm({ column: operation.column(name), direction: value }, operation);
    }
    const related = { name, relation, order: value, subject: `${subject}.${name}` };
    return relatedTerms(related, operation);
  });
}

function columnTerm(
  { column, direction }: { readonly column: TableColumn; readonly direction: unknown },
  operation: Operation,
): OrderTerm {
  const { name, field: { flags }, rules, grammar } = column;
  const { sort, mode } = isPlainObject(direction)
    ? direction
    : { sort: direction, mode: undefined };
  if (sort !== direction) {
    checkOptions(direction, ["sort", "mode"], { ...operation, subject: `the order of ${name}` });
  }
  const read = directionOf(sort, { name, operation });
  if (!rules.comparable) throw operation.mistake(`${name} has no order`);
  const isNullable = flags.has("nullable");
  const term = { name: column.column, column, direction: read, isNullable };
  if (mode === undefined || !readMode({ column, mode }, operation)) return term;
  operation.add("insensitive,");
  const ref = operation.ref(column);
  return {
    ...term,
    name: `${name} insensitive`,
    value: (eb) => grammar.lower(eb.ref(ref)),
    lowered: column,
  };
}

/** Reads an order by the columns of the one related row, or by the number of related rows. */
function relatedTerms(
  { name, relation, order, subject }: {
    readonly name: string;
    readonly relation: TableRelation;
    readonly order: unknown;
    readonly subject: string;
  },
  operation: Operation,
): readonly OrderTerm[] {
  const rows = relatedRows({ name: `${name} of`, relation }, operation);
  const all = (eb: Builder) => rows.query(eb, every([]));
  const terms = relation.kind === "many"
    ? membersOf(order, subject, operation).map(([member, direction]): OrderTerm => {
      if (member !== "_count") {
        throw operation.mistake(`${subject} takes no ${JSON.stringify(member)}`);
      }
      return {
        name: member,
        direction: directionOf(direction, { name: subject, operation }),
        isNullable: false,
        value: (eb) => all(eb).select(countOfRows()),
      };
    })
    : readTerms({ order, subject }, rows.operation).map(({ name, direction, value }): OrderTerm => {
      const selected = value
        ? (eb: Builder) => value(eb).as("value")
        : `${rows.operation.rows}.${name}`;
      return { name, direction, isNullable: true, value: (eb) => all(eb).select(selected) };
    });
  operation.add(")");
  return terms.map((term) => ({ ...term, name: `${name}.${term.name}` }));
}

/** Reads a direction, and adds it to the shape. */
function directionOf(
  direction: unknown,
  { name, operation }: { readonly name: string; readonly operation: Operation },
): SortOrder {
  if (direction !== "asc" && direction !== "desc") {
    throw operation.mistake(`the order of ${name} is not asc or desc`);
  }
  operation.add(`${name} ${direction},`);
  return direction;
}

/**
 * Checks the bounds, and adds those that are missing.
 *
 * @throws {RangeError} if one is not a whole number of 0 or more
 */
export function checkBounds(
  // Only PostgreSQL can skip without a limit.
  { take = Number.MAX_SAFE_INTEGER, skip = 0 }: PageOptions,
  { action }: Operation,
): { readonly take: number; readonly skip: number } {
  const wrong = !isCount(take) ? "take" : !isCount(skip) ? "skip" : undefined;
  if (wrong) throw new RangeError(`Cannot ${action}: ${wrong} is not a whole number of 0 or more`);
  return { take, skip };
}

function isCount(bound: number): boolean {
  return Number.isSafeInteger(bound) && bound >= 0;
}

/** Binds a number of rows. */
export function bindCount(
  { name, count }: { readonly name: string; readonly count: number },
  operation: Operation,
): Slot {
  const { connection: { grammar: { codecs } }, columns } = operation.table;
  operation.section(name);
  return operation.bind("?", codecs.integer.encode(count, columns[0]!.field));
}

/**
 * Reads the columns by which rows are distinct.
 *
 * @throws {TypeError} if it is not a list, or has an unknown column, or one that cannot be compared
 */
export function readDistinct(distinct: unknown, operation: Operation): readonly TableColumn[] {
  if (distinct === undefined) return [];
  if (!Array.isArray(distinct)) throw operation.mistake("distinct is not a list");
  const columns = [...new Set(distinct.map((name) => operation.column(name)))];
  for (const { name, rules } of columns) {
    if (!rules.comparable) throw operation.mistake(`${name} cannot be distinct`);
  }
  operation.section(`distinct ${columns.map(({ name }) => name)}`);
  return columns;
}
