/**
 * Builds the subqueries of rows that are related to those of an outer query.
 *
 * @module
 */
import type { SelectQueryBuilder } from "kysely";
import type { AnyTables } from "../connection/dialect.ts";
import { every, scopeFilters } from "./filters.ts";
import type { Operation } from "./operation.ts";
import type { Builder, Filter } from "./operators.ts";
import type { Table, TableRelation } from "./table.ts";

/** A query that is a part of another one. */
export type Subquery = SelectQueryBuilder<AnyTables, string, Record<string, unknown>>;

/** A relation, and the subquery's part of the shape. */
export interface NamedRelation {
  /** Begins the part of the shape. */
  readonly name: string;
  /** The relation. */
  readonly relation: TableRelation;
}

/** The rows in the scope that are related to each row of an outer query. */
export interface RelatedRows {
  /** The subquery: conditions on the rows are read in it. */
  readonly operation: Operation;
  /** Builds the subquery of the rows that meet a condition. */
  readonly query: (eb: Builder, filter: Filter) => Subquery;
}

/** Rows of a table, by a column that is equal to one of the outer query. */
interface Step {
  readonly name: string;
  readonly table: Table;
  readonly their: string;
  readonly own: string;
  readonly isLink?: boolean;
}

/**
 * Begins the subquery of related rows. Rows of a join table are checked by a subquery in it: an
 * index on either column can find them.
 *
 * @throws {TypeError} if it is over 8 relations deep, or the operation has over 100
 */
export function relatedRows(
  { name, relation: { own, table, their, through } }: NamedRelation,
  outer: Operation,
): RelatedRows {
  if (!through) return step({ name, table, their: their.name, own: own.name }, outer);
  const links = step(
    { name, table: through.table, their: through.own, own: own.name, isLink: true },
    outer,
  );
  const { operation, query } = step(
    { name: "to", table, their: their.name, own: through.their },
    links.operation,
  );
  return {
    operation,
    query: (eb, filter) => links.query(eb, (eb) => eb.exists(query(eb, filter).select(one))),
  };
}

/** Selects a constant, where it matters only whether there are rows. */
export function one(eb: Builder): ReturnType<ReturnType<Builder["lit"]>["as"]> {
  return eb.lit(1).as("one");
}

function step({ name, table, their, own, isLink = false }: Step, outer: Operation): RelatedRows {
  const operation = outer.within(table, { name, isLink });
  const scoped = scopeFilters(operation);
  const { rows } = operation;
  const from = rows === table.name ? rows : `${table.name} as ${rows}`;
  return {
    operation,
    query: (eb, filter) =>
      eb.selectFrom(from).whereRef(`${rows}.${their}`, "=", `${outer.rows}.${own}`)
        .where(every([...scoped, filter])),
  };
}
