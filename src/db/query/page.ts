/**
 * Reads the order and the bounds of rows.
 *
 * @module
 */
import { membersOf } from "../model/plain_object.ts";
import type { SortOrder } from "../model/model.ts";
import type { Operation, Slot } from "../connection/operation.ts";
import type { Table, TableColumn } from "./table.ts";

/** A column of an order, and its direction. */
export interface OrderTerm {
  /** The column. */
  readonly column: TableColumn;
  /** The direction. */
  readonly direction: SortOrder;
}

/** What a page is read from: members of `FindManyOptions`. */
export interface PageOptions {
  /** An order or a list of them. */
  readonly orderBy?: unknown;
  /** How many rows at most. */
  readonly take?: number | undefined;
  /** How many rows to leave out first. */
  readonly skip?: number | undefined;
}

/** Tells whether there are bounds. */
export function isBounded({ take, skip }: PageOptions): boolean {
  return take !== undefined || skip !== undefined;
}

/**
 * Reads the order; one that is total ends with the primary key.
 *
 * @throws {TypeError} if it has an unknown column, one without an order, or an unknown direction
 */
export function readOrder(
  orderBy: unknown = {},
  isTotal: boolean,
  table: Table,
  operation: Operation,
): readonly OrderTerm[] {
  const { action } = operation;
  const order = new Map<TableColumn, SortOrder>();
  for (const part of Array.isArray(orderBy) ? orderBy : [orderBy]) {
    for (const [name, direction] of membersOf(part, "orderBy", operation)) {
      const column = table.column(name, action);
      if (direction !== "asc" && direction !== "desc") {
        throw new TypeError(`Cannot ${action}: the order of ${name} is not asc or desc`);
      }
      if (!column.rules.comparable) throw new TypeError(`Cannot ${action}: ${name} has no order`);
      if (!order.has(column)) order.set(column, direction);
    }
  }
  if (isTotal && !order.has(table.primaryKey)) order.set(table.primaryKey, "asc");
  operation.section("order");
  for (const [{ name }, direction] of order) operation.add(`${name} ${direction},`);
  return Array.from(order, ([column, direction]) => ({ column, direction }));
}

/**
 * Checks the bounds, and gives them.
 *
 * @throws {RangeError} if one is not a whole number of 0 or more
 */
export function checkBounds(
  // Only PostgreSQL can skip without a limit.
  { take = Number.MAX_SAFE_INTEGER, skip = 0 }: PageOptions,
  { action }: Operation,
): { readonly take: number; readonly skip: number } {
  for (const [name, bound] of Object.entries({ take, skip })) {
    if (!Number.isSafeInteger(bound) || bound < 0) {
      throw new RangeError(`Cannot ${action}: ${name} is not a whole number of 0 or more`);
    }
  }
  return { take, skip };
}

/** Binds a number of rows. */
export function bindCount(name: string, count: number, table: Table, operation: Operation): Slot {
  const { codecs } = table.connection.grammar;
  operation.section(name);
  return operation.bind("?", codecs.integer.encode(count, table.primaryKey.field));
}

/**
 * Reads a list of columns that rows are told apart by.
 *
 * @throws {TypeError} if it is no list, or has an unknown column, or one that cannot be compared
 */
export function readDistinct(
  distinct: unknown,
  table: Table,
  operation: Operation,
): readonly TableColumn[] {
  if (distinct === undefined) return [];
  const { action } = operation;
  if (!Array.isArray(distinct)) throw new TypeError(`Cannot ${action}: distinct is not a list`);
  const columns = [...new Set(distinct.map((name) => table.column(name, action)))];
  for (const { name, rules } of columns) {
    if (!rules.comparable) throw new TypeError(`Cannot ${action}: ${name} cannot be distinct`);
  }
  operation.section(`distinct ${columns.map(({ name }) => name)}`);
  return columns;
}
