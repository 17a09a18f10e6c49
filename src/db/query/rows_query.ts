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
import { every } from "./condition.ts";
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
import type { Table, TableColumn } from "./table.ts";

/** A query of rows. */
export type RowsQuery = SelectQueryBuilder<AnyTables, string, Record<string, unknown>>;

/** Names that no column has. */
const NUMBER = "~number";
const ROWS = "~rows";
const OWNER = "~owner";
const OWNED = "~owned";

/** Which rows to read. */
export interface RowsOptions extends PageOptions {
  /** The columns to read. */
  readonly columns: readonly TableColumn[];
  /** The condition on the rows. */
  readonly filter: Filter;
  /** Columns by which rows are distinct. */
  readonly distinct?: unknown;
}

/**
 * Reads the options of a page of rows, and returns what builds its query.
 *
 * @throws {TypeError} if they name an unknown column, or have a value of another type
 * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
 */
export function readRows(options: RowsOptions, operation: Operation): () => Compilable {
  const { columns, filter } = options;
  const { name: table, connection: { kysely } } = operation.table;
  const distinct = readDistinct(options.distinct, operation);
  const isTotal = isBounded(options) || distinct.length > 0;
  const order = readOrder({ orderBy: options.orderBy, isTotal }, operation);
  const bounded = readPage(options, operation);
  const names = columns.map(({ name }) => name);
  if (distinct.length === 0) {
    return () => bounded(ordered(kysely.selectFrom(table).select(names).where(filter), order));
  }
  return () => {
    const numbered = kysely.selectFrom(table)
      .select([...new Set([...names, ...order.map(({ column }) => column.name)])])
      .select(numbering(distinct.map(({ name }) => name), order))
      .where(filter);
    return bounded(
      ordered(
        kysely.selectFrom(numbered.as(ROWS)).select(names).where(NUMBER, "=", sql.lit(1)),
        order,
      ),
    );
  };
}

/** Which related rows to read. */
export interface RelatedOptions extends PageOptions {
  /** The columns to read. */
  readonly columns: readonly TableColumn[];
  /** The condition on the rows. */
  readonly filter: Filter;
  /** The column, of the table or of the join table, that holds the key of the owner of a row. */
  readonly owner: string;
  /**
   * The join table, its column that refers to the related rows, and the conditions on its rows.
   */
  readonly through?:
    | { readonly table: Table; readonly their: string; readonly filters: readonly Filter[] }
    | undefined;
}

/**
 * Builds the query of related rows, each after the key of its owner; bounds count for each key.
 *
 * @throws {TypeError} if they name an unknown column, or have a value of another type
 * @throws {RangeError} if `take` or `skip` is not a whole number of 0 or more
 */
export function readRelated(
  options: RelatedOptions,
  operation: Operation,
): (keys: readonly unknown[]) => () => Compilable {
  const { columns, filter, owner, through } = options;
  const { table } = operation;
  const { kysely } = table.connection;
  const names = columns.map(({ name }) => name);
  const order = readOrder({ orderBy: options.orderBy, isTotal: true }, operation);
  const { take, skip } = checkBounds(options, operation);
  const bounds = isBounded(options) && {
    skip: bindCount({ name: "skip", count: skip }, operation),
    last: bindCount(
      { name: "last", count: Math.min(skip + take, Number.MAX_SAFE_INTEGER) },
      operation,
    ),
  };
  const related = (keys: readonly unknown[]): RowsQuery => {
    if (!through) {
      return kysely.selectFrom(table.name).select(`${owner} as ${OWNER}`).select(names)
        .where(owner, "in", keys).where(filter);
    }
    // In a subquery, its columns do not conflict with columns of the same name.
    const between = kysely.selectFrom(through.table.name)
      .select([`${owner} as ${OWNER}`, `${through.their} as ${OWNED}`]).where(owner, "in", keys)
      .$if(through.filters.length > 0, (query) => query.where(every(through.filters)));
    return kysely.selectFrom(between.as(ROWS))
      .innerJoin(table.name, `${ROWS}.${OWNED}`, `${table.name}.${table.primaryKey.name}`)
      .select(OWNER).select(names).where(filter);
  };
  return (keys) => () => {
    if (!bounds) return ordered(related(keys), order);
    const numbered = related(keys).select(numbering([through ? OWNER : owner], order));
    return kysely.selectFrom(numbered.as("~numbered")).select([OWNER, ...names])
      .where(NUMBER, ">", bounds.skip).where(NUMBER, "<=", bounds.last).orderBy(NUMBER);
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

function readPage(
  options: PageOptions,
  operation: Operation,
): (query: RowsQuery) => RowsQuery {
  const { take, skip } = checkBounds(options, operation);
  if (!isBounded(options)) return (query) => query;
  const limit = bindCount({ name: "take", count: take }, operation);
  const offset = bindCount({ name: "skip", count: skip }, operation);
  return (query) => query.limit(sql<number>`${limit}`).offset(sql<number>`${offset}`);
}

function ordered(query: RowsQuery, order: readonly OrderTerm[]): RowsQuery {
  return order.reduce(
    (query, term) => query.orderBy(term.column.name, direction(term)),
    query,
  );
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
