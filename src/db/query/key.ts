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

/** Returns a key for a Map of rows, which is the same for equal values of columns. */
export function identityOf(
  row: Readonly<Record<string, unknown>>,
  columns: readonly TableColumn[],
): unknown {
  return joinedKey(columns.map(({ name }) => identity(row[name])));
}

/** Joins keys of values to one: no text has the character between them. */
export function joinedKey(keys: readonly unknown[]): unknown {
  return keys.length === 1 ? keys[0] : keys.join("\0");
}

/** Returns a key for a Map that is the same for equal values. */
export function identity(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : value;
}
