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
import type { TableRelation } from "./table.ts";

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
  /** Builds the query of the values of the relation's column that have rows meeting a condition. */
  readonly keys: (eb: Builder, filter: Filter) => Subquery;
}

/** The name of the values of a query of keys: no column has it. */
export const KEY = "~key";

/**
 * Begins the subquery of related rows, after those of a join table.
 *
 * @throws {TypeError} if it is over 8 relations deep, or the operation has over 30
 */
export function relatedRows(
  { name, relation: { own, table, their, through } }: NamedRelation,
  outer: Operation,
): RelatedRows {
  const owner = `${outer.rows}.${own.column}`;
  if (!through) {
    const operation = outer.within(table, { name, isLink: false });
    const scoped = scopeFilters(operation);
    const key = operation.ref(their);
    const query = (eb: Builder, filter: Filter) =>
      eb.selectFrom(from(operation)).whereRef(key, "=", owner).where(every([...scoped, filter]));
    const keys = (eb: Builder, filter: Filter) =>
      eb.selectFrom(from(operation)).select(`${key} as ${KEY}`).where(every([...scoped, filter]));
    return { operation, query, keys };
  }
  const links = outer.within(through.table, { name, isLink: true });
  const linked = scopeFilters(links);
  const operation = links.within(table, { name: "to", isLink: false });
  const scoped = scopeFilters(operation);
  const key = links.ref(through.own);
  const joined = (eb: Builder) =>
    eb.selectFrom(from(links))
      .innerJoin(from(operation), operation.ref(their), links.ref(through.their));
  const query = (eb: Builder, filter: Filter) =>
    joined(eb).whereRef(key, "=", owner).where(every([...linked, ...scoped, filter]));
  const keys = (eb: Builder, filter: Filter) =>
    joined(eb).select(`${key} as ${KEY}`).where(every([...linked, ...scoped, filter]));
  return { operation, query, keys };
}

/** Selects a constant, where it matters only whether there are rows. */
export function one(eb: Builder): ReturnType<ReturnType<Builder["lit"]>["as"]> {
  return eb.lit(1).as("one");
}

function from({ rows, table }: Operation): string {
  return rows === table.rows ? table.source : `${table.source} as ${rows}`;
}
