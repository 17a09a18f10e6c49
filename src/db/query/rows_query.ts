/**
 * Builds the queries of rows.
 *
 * @module
 */
import {
  type AliasedExpression,
  type Compilable,
  type OrderByItemBuilder,
  type RawBuilder,
  sql,
} from "kysely";
import type { Grammar } from "../connection/grammar.ts";
import {
  bindCount,
  checkBounds,
  isBounded,
  namedTerms,
  type OrderTerm,
  type PageOptions,
  readDistinct,
  readOrder,
} from "./find_options.ts";
import type { Operation } from "./operation.ts";
import type { Builder, Filter } from "./operators.ts";
import type { Subquery } from "./related_rows.ts";
import { countOfRows, selectionOf, type TableColumn } from "./table_column.ts";

/** Names that no column has. */
const NUMBER = "~number";
const ROWS = "~rows";

/** Which rows to read. */
export interface RowsOptions extends PageOptions {
  /** The columns to read. */
  readonly columns: readonly TableColumn[];
  /** The condition on the rows. */
  readonly filter: Filter;
  /** The order, if it has been read: a total one, in place of `orderBy`. */
  readonly order?: readonly OrderTerm[] | undefined;
  /** Columns by which rows are distinct. */
  readonly distinct?: unknown;
  /** Adds a lock to the query; the rows are not distinct then. */
  readonly locked?: ((query: Subquery) => Subquery) | undefined;
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
  const { source, connection: { kysely, grammar } } = operation.table;
  const distinct = readDistinct(options.distinct, operation);
  const isTotal = isBounded(options) || distinct.length > 0;
  const order = options.order ?? readOrder({ orderBy: options.orderBy, isTotal }, operation);
  const bounded = readPage(options, operation);
  const names = columns.map(({ column }) => column);
  const sorted = (query: Subquery, terms: readonly OrderTerm[]) =>
    bounded(ordered(query, terms, grammar));
  if (distinct.length === 0) {
    return () =>
      locked(
        sorted(kysely.selectFrom(source).select(selectionOf(columns)).where(filter), order),
      );
  }
  const groups = distinct.map(({ column }) => column);
  const leading = order.slice(0, distinct.length);
  if (isSame(names, groups) && isSame(leading.map(({ name }) => name), groups)) {
    // No rows are equal in these columns, so that the others do not order them.
    const selection = selectionOf(columns);
    const isRead = selection.some((it) => typeof it !== "string");
    return () => {
      const rows = kysely.selectFrom(source).select(names).distinct().where(filter);
      // PostgreSQL orders distinct rows by selected columns only.
      const read = isRead ? kysely.selectFrom(rows.as(ROWS)).select(selection) : rows;
      return sorted(read, leading);
    };
  }
  return () => {
    const numbered = withOrder(kysely.selectFrom(source), names, order)
      .select(numbering(groups, order, grammar))
      .where(filter);
    const first = kysely.selectFrom(numbered.as(ROWS)).select(selectionOf(columns))
      .where(NUMBER, "=", sql.lit(1));
    return sorted(first, namedTerms(order));
  };
}

/** Counts rows, or the combinations of values of distinct columns. */
export function countRows(
  { distinct, filter }: { readonly distinct: unknown; readonly filter: Filter },
  operation: Operation,
): () => Compilable {
  const { table } = operation;
  const { kysely } = table.connection;
  const names = readDistinct(distinct, operation).map(({ column }) => column);
  if (names.length === 0) {
    return () => kysely.selectFrom(table.source).select(countOfRows()).where(filter);
  }
  return () => {
    const rows = kysely.selectFrom(table.source).select(names).distinct().where(filter);
    return kysely.selectFrom(rows.as(ROWS)).select(countOfRows());
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
): (query: Subquery) => Subquery {
  const { take, skip } = checkBounds(options, operation);
  if (!isBounded(options)) return (query) => query;
  const limit = limitOf(take, operation);
  const limited = (query: Subquery) => query.limit(limit);
  if (skip === 0) return limited;
  const offset = bindCount({ name: "skip", count: skip }, operation);
  return (query) => limited(query).offset(sql<number>`${offset}`);
}

function limitOf(take: number, operation: Operation): RawBuilder<number> {
  if (!operation.table.writesLimit(take)) {
    return sql<number>`${bindCount({ name: "take", count: take }, operation)}`;
  }
  operation.section(`take ${take}`);
  return sql.lit(take);
}

/** Orders rows. */
export function ordered(
  query: Subquery,
  order: readonly OrderTerm[],
  grammar: Grammar,
): Subquery {
  return order.reduce(
    (query, term) => query.orderBy(term.value ?? term.name, direction(term, grammar)),
    query,
  );
}

/** Selects columns, and the values by which a query around this one orders its rows. */
export function withOrder(
  query: Subquery,
  columns: readonly string[],
  order: readonly OrderTerm[],
): Subquery {
  const names = order.filter(({ value }) => !value).map(({ name }) => name);
  const values = order.flatMap(({ name, value }) => value ? [{ name, value }] : []);
  return query.select([...new Set([...columns, ...names])])
    .select((eb) => values.map(({ name, value }) => value(eb).as(name)));
}

/** Checks whether two lists have the same names, in any order. */
function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}

/** Numbers the rows of each group in an order. */
function numbering(
  groups: readonly string[],
  order: readonly OrderTerm[],
  grammar: Grammar,
): (eb: Builder) => AliasedExpression<number, typeof NUMBER> {
  return (eb) =>
    eb.fn.agg<number>("row_number").over((over) =>
      order.reduce(
        (over, term) => over.orderBy(term.value ?? term.name, direction(term, grammar)),
        over.partitionBy([...groups]),
      )
    ).as(NUMBER);
}

/** `null` comes first in an ascending order and last in a descending one, on every database. */
function direction({ isNullable, direction }: OrderTerm, { nullsLast }: Grammar) {
  return (item: OrderByItemBuilder) => {
    const directed = direction === "asc" ? item.asc() : item.desc();
    if (!nullsLast || !isNullable) return directed;
    return direction === "asc" ? directed.nullsFirst() : directed.nullsLast();
  };
}
