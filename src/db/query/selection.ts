/**
 * Reads which columns to read.
 *
 * @module
 */
import { membersOf } from "../model/plain_object.ts";
import type { Operation } from "../connection/operation.ts";
import type { Table, TableColumn } from "./table.ts";

/**
 * Reads a `select`, and adds the columns that others ask for.
 *
 * @throws {TypeError} if it has an unknown column, or a value that is not `true`
 */
export function readSelection(
  select: unknown,
  needed: readonly TableColumn[],
  table: Table,
  operation: Operation,
): readonly TableColumn[] {
  if (select === undefined) return table.columns;
  const columns = new Set(needed);
  const members = membersOf(select, "select", operation);
  if (members.length === 0) {
    throw new TypeError(`Cannot ${operation.action}: select names no column`);
  }
  for (const [name, value] of members) {
    const column = table.column(name, operation.action);
    if (value !== true) {
      throw new TypeError(`Cannot ${operation.action}: select.${name} is not true`);
    }
    columns.add(column);
  }
  // Rows have the order of the model.
  const selected = table.columns.filter((column) => columns.has(column));
  operation.section(`select ${selected.map(({ name }) => name)}`);
  return selected;
}

/** Takes out of rows the columns that were read for others only. */
export function dropUnselected(
  rows: readonly Record<string, unknown>[],
  select: unknown,
  columns: readonly TableColumn[],
): void {
  if (select === undefined) return;
  const selected = select as Readonly<Record<string, unknown>>;
  const extra = columns.map(({ name }) => name).filter((name) => selected[name] !== true);
  for (const row of rows) for (const name of extra) delete row[name];
}
