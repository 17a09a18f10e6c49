/**
 * Keys for a Map of values of columns.
 *
 * @module
 */
import type { TableColumn } from "./table_column.ts";

/** Returns a key for a Map that is the same for values that are equal in a column. */
export function keyOf({ field }: TableColumn, value: unknown): unknown {
  return field.kind === "uuid" ? String(value).toLowerCase() : identity(value);
}

/** Returns a key for a Map that is the same for equal values. */
export function identity(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : value;
}
