/**
 * Updates and deletes many rows.
 *
 * @module
 */
import { every, liveFilters, targetFilter } from "../query/filters.ts";
import type { Operation } from "../query/operation.ts";
import type { Filter } from "../query/operators.ts";
import type { TableColumn, Values } from "../query/table_column.ts";
import { assign, markValues } from "./assignments.ts";

/** Rows, and what to set in them. */
export interface ManyUpdate {
  /** The condition on the rows. */
  readonly filter: Filter;
  /** The values to set. */
  readonly values: Values;
}

/** Updates rows, and returns their number. */
export async function updateMany(
  { filter, values }: ManyUpdate,
  operation: Operation,
): Promise<number> {
  operation.section("many");
  const assignments = assign(values, operation);
  const { source, connection: { kysely } } = operation.table;
  const target = targetFilter(filter, operation);
  const { affectedRows } = await operation.run(
    () => kysely.updateTable(source).set(assignments).where(target),
  );
  return affectedRows;
}

/** Rows, and the column that marks them as deleted. */
export interface ManyMarks extends Pick<ManyUpdate, "filter"> {
  /** The column. */
  readonly mark: TableColumn;
}

/** Marks those of some rows that are not marked as deleted, and returns their number. */
export async function markMany(marks: ManyMarks, operation: Operation): Promise<number> {
  return await updateMany(markUpdate(marks, operation), operation);
}

/** Returns the update that marks those of some rows that are not marked. */
export function markUpdate({ filter, mark }: ManyMarks, operation: Operation): ManyUpdate {
  const { table, seesDeleted } = operation;
  const live = seesDeleted ? liveFilters(table, { operation }) : [];
  return { filter: every([filter, ...live]), values: markValues(mark, operation) };
}

/** Deletes rows, and returns their number. */
export async function deleteMany(filter: Filter, operation: Operation): Promise<number> {
  operation.section("many");
  const { source, connection: { kysely } } = operation.table;
  const target = targetFilter(filter, operation);
  const { affectedRows } = await operation.run(() => kysely.deleteFrom(source).where(target));
  return affectedRows;
}
