/**
 * Reads the order and the bounds of a page of rows.
 *
 * @module
 */
import { type SelectQueryBuilder, sql } from "kysely";
import type { AnyTables } from "./connection.ts";
import { membersOf } from "./plain_object.ts";
import type { SortOrder } from "./model.ts";
import type { Operation, Slot } from "./operation.ts";
import type { Table } from "./table.ts";

/** A query of rows. */
export type RowsQuery = SelectQueryBuilder<AnyTables, string, Record<string, unknown>>;

/** Says an order and its bounds in SQL. */
export type Page = (query: RowsQuery) => RowsQuery;

/** What a page is read from: members of `FindManyOptions`. */
export interface PageOptions {
  /** An order or a list of them. */
  readonly orderBy?: unknown;
  /** How many rows at most. */
  readonly take?: number | undefined;
  /** How many rows to leave out first. */
  readonly skip?: number | undefined;
}

/**
 * Reads the order and the bounds. Where there are bounds, the primary key breaks ties.
 *
 * @throws {TypeError} if the order has an unknown column or direction
 * @throws {RangeError} if a bound is not a whole number of 0 or more
 */
export function readPage(options: PageOptions, table: Table, operation: Operation): Page {
  // Only PostgreSQL can skip without a limit.
  const { orderBy = {}, take = Number.MAX_SAFE_INTEGER, skip = 0 } = options;
  const isBounded = options.take !== undefined || options.skip !== undefined;
  const order = readOrder(orderBy, table, operation);
  if (isBounded && !order.has(table.primaryKey)) order.set(table.primaryKey, "asc");
  for (const [name, direction] of order) operation.add(`${name} ${direction},`);
  const ordered: Page = (query) =>
    [...order].reduce((query, [name, direction]) => query.orderBy(name, direction), query);
  if (!isBounded) return ordered;
  const limit = bindBound("take", take, operation);
  const offset = bindBound("skip", skip, operation);
  return (query) => ordered(query).limit(sql<number>`${limit}`).offset(sql<number>`${offset}`);
}

function readOrder(orderBy: unknown, table: Table, operation: Operation): Map<string, SortOrder> {
  const order = new Map<string, SortOrder>();
  for (const part of Array.isArray(orderBy) ? orderBy : [orderBy]) {
    for (const [name, direction] of membersOf(part, "orderBy", operation)) {
      if (direction !== "asc" && direction !== "desc") {
        throw new TypeError(`Cannot ${operation.action}: the order of ${name} is not asc or desc`);
      }
      const column = table.column(name, operation.action);
      if (!order.has(column.name)) order.set(column.name, direction);
    }
  }
  return order;
}

function bindBound(name: "take" | "skip", bound: number, operation: Operation): Slot {
  if (Number.isSafeInteger(bound) && bound >= 0) return operation.bind(name, bound);
  throw new RangeError(`Cannot ${operation.action}: ${name} is not a whole number of 0 or more`);
}
