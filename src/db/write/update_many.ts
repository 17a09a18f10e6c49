/**
 * Updates and deletes many rows.
 *
 * @module
 */
import { targetFilter } from "../query/filters.ts";
import type { Operation } from "../query/operation.ts";
import type { Filter } from "../query/operators.ts";
import type { Values } from "../query/table.ts";
import { assign } from "./assignments.ts";

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

/** Deletes rows, and returns their number. */
export async function deleteMany(filter: Filter, operation: Operation): Promise<number> {
  operation.section("many");
  const { source, connection: { kysely } } = operation.table;
  const target = targetFilter(filter, operation);
  const { affectedRows } = await operation.run(() => kysely.deleteFrom(source).where(target));
  return affectedRows;
}
