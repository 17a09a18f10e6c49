/**
 * Builds the queries of rows.
 *
 * @module
 */
import {
  type AliasedExpression,
  type Compilable,
  type ExpressionBuilder,
  type OrderByItemBuilder,
  type SelectQueryBuilder,
  sql,
} from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import {
  bindCount,
  checkBounds,
  isBounded,
  type OrderTerm,
  type PageOptions,
  readDistinct,
  readOrder,
} from "./find_options.ts";
import type { Operation } from "./operation.ts";
import type { Filter } from "./operators.ts";
import { selectionOf, type TableColumn } from "./table.ts";

/** A query of rows. */
export type RowsQuery = SelectQueryBuilder<AnyTables, string, Record<string, unknown>>;

/** Names that no column has. */
const NUMBER = "~number";
const ROWS = "~rows";

/** Which rows to read. */
export interface RowsOptions extends PageOptions {
  /** The columns to read. */
  readonly columns: readonly TableColumn[];
  /** The condition on the rows. */
  readonly filter: Filter;
  /** Columns by which rows are distinct. */
  readonly distinct?: unknown;
  /** Adds a lock to the query; the rows are not distinct then. */
  readonly locked?: ((query: RowsQuery) => RowsQuery) | undefined;
}

/**
 * Reads the options of a page of rows, and returns what builds its query.
 *
 * @throws {TypeError} if they name an unknown column
 * @throws {DbError} `CheckViolation` if they have a value of another type
 * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
 */
export function readRows(options: RowsOptions, operation: Operation): () => Compilable {
  const { columns, filter, locked = (query) => query } = options;
  const { name: table, connection: { kysely } } = operation.table;
  const distinct = readDistinct(options.distinct, operation);
  const isTotal = isBounded(options) || distinct.length > 0;
  const order = readOrder({ orderBy: options.orderBy, isTotal }, operation);
  const bounded = readPage(options, operation);
  const names = columns.map(({ name }) => name);
  if (distinct.length === 0) {
    return () =>
      locked(
        bounded(
          ordered(kysely.selectFrom(table).select(selectionOf(columns)).where(filter), order),
        ),
      );
  }
  const leading = order.slice(0, distinct.length);
  if (isSame(columns, distinct) && isSame(leading.map(({ column }) => column), distinct)) {
    // No rows are equal in these columns, so that the others do not order them.
    const selection = selectionOf(columns);
    const isRead = selection.some((it) => typeof it !== "string");
    return () => {
      const rows = kysely.selectFrom(table).select(names).distinct().where(filter);
      // PostgreSQL orders distinct rows by selected columns only.
      const read = isRead ? kysely.selectFrom(rows.as(ROWS)).select(selection) : rows;
      return bounded(ordered(read, leading));
    };
  }
  return () => {
    const numbered = kysely.selectFrom(table)
      .select([...new Set([...names, ...order.map(({ column }) => column.name)])])
      .select(numbering(distinct.map(({ name }) => name), order))
      .where(filter);
    return bounded(
      ordered(
        kysely.selectFrom(numbered.as(ROWS)).select(selectionOf(columns))
          .where(NUMBER, "=", sql.lit(1)),
        order,
      ),
    );
  };
}

/** Counts rows, or the combinations of values of distinct columns. */
export function countRows(
  { distinct, filter }: { readonly distinct: unknown; readonly filter: Filter },
  operation: Operation,
): () => Compilable {
  const { table } = operation;
  const { kysely } = table.connection;
  const names = readDistinct(distinct, operation).map(({ name }) => name);
  const count = sql<number>`count(*)`.as("count");
  if (names.length === 0) {
    return () => kysely.selectFrom(table.name).select(count).where(filter);
  }
  return () => {
    const rows = kysely.selectFrom(table.name).select(names).distinct().where(filter);
    return kysely.selectFrom(rows.as(ROWS)).select(count);
  };
}

/**
 * Reads the bounds of a page, and returns what adds them to a query.
 *
 * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
 */
export function readPage(
  options: PageOptions,
  operation: Operation,
): (query: RowsQuery) => RowsQuery {
  const { take, skip } = checkBounds(options, operation);
  if (!isBounded(options)) return (query) => query;
  const limit = bindCount({ name: "take", count: take }, operation);
  const offset = bindCount({ name: "skip", count: skip }, operation);
  return (query) => query.limit(sql<number>`${limit}`).offset(sql<number>`${offset}`);
}

/** Orders rows. */
export function ordered(query: RowsQuery, order: readonly OrderTerm[]): RowsQuery {
  return order.reduce(
    (query, term) => query.orderBy(term.column.name, direction(term)),
    query,
  );
}

/** Checks whether two lists have the same columns, in any order. */
function isSame(one: readonly TableColumn[], other: readonly TableColumn[]): boolean {
  return one.length === other.length && one.every((column) => other.includes(column));
}

/** Numbers the rows of each group in an order. */
function numbering(
  groups: readonly string[],
  order: readonly OrderTerm[],
): (eb: ExpressionBuilder<AnyTables, string>) => AliasedExpression<number, typeof NUMBER> {
  return (eb) =>
    eb.fn.agg<number>("row_number").over((over) =>
      order.reduce(
        (over, term) => over.orderBy(term.column.name, direction(term)),
        over.partitionBy([...groups]),
      )
    ).as(NUMBER);
}

/** `null` comes first in an ascending order and last in a descending one, on every database. */
function direction({ column: { field, grammar }, direction }: OrderTerm) {
  const moves = grammar.nullsLast && field.flags.has("nullable");
  return (item: OrderByItemBuilder) => {
    const directed = direction === "asc" ? item.asc() : item.desc();
    if (!moves) return directed;
    return direction === "asc" ? directed.nullsFirst() : directed.nullsLast();
  };
}
