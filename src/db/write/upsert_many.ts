/**
 * Creates many rows, or updates those that exist.
 *
 * @module
 */
import { dbError } from "../errors.ts";
import { keyColumns } from "../query/condition.ts";
import type { Operation } from "../query/operation.ts";
import type { TableColumn } from "../query/table_column.ts";
import { checkUpdatable, givenColumn, updateStamps } from "./assignments.ts";
import { createTuples, keyOfValues } from "./create_many.ts";
import { fieldsOf } from "./inserts.ts";
import { type ManyUpdates, updateConflicts } from "./many_conflicts.ts";
import { insertRows, type Tuple } from "./many_inserts.ts";

/** Rows to create or to update. */
export interface ManyUpserts {
  /** The name of the unique column or key that finds a row. */
  readonly by: string;
  /** The data of rows. */
  readonly create: unknown;
  /** The columns that are set where a row exists. */
  readonly update: unknown;
}

/** The rows to create, and what to set in those that exist. */
export interface ReadUpserts {
  /** The rows. */
  readonly tuples: readonly Tuple[];
  /** What to set. */
  readonly updates: ManyUpdates;
}

/** Creates or updates rows, all of them or none; returns their number. */
export async function upsertMany(upserts: ManyUpserts, operation: Operation): Promise<number> {
  const { tuples, updates } = readUpserts(upserts, operation);
  await insertRows(tuples, updateConflicts(updates, operation), operation);
  return tuples.length;
}

/** Reads the options of `upsertMany`. */
export function readUpserts(
  { by, create, update }: ManyUpserts,
  operation: Operation,
): ReadUpserts {
  const key = keyColumns(by, operation);
  const columns = updateColumns(update, operation);
  const tuples = createTuples({ name: "create", data: create }, operation);
  checkDifferent(tuples, key, operation);
  const stamps = updateStamps(columns, operation);
  return { tuples, updates: { by: key, columns, stamps } };
}

function updateColumns(update: unknown, operation: Operation): readonly TableColumn[] {
  if (!Array.isArray(update)) throw operation.mistake("update is not a list");
  const columns = [...new Set(update.map((name) => givenColumn(name, operation)))];
  if (columns.length === 0) throw operation.mistake("update names no column");
  for (const column of columns) checkUpdatable(column, operation);
  return columns;
}

/** A statement cannot write a row twice. */
function checkDifferent(
  tuples: readonly Tuple[],
  columns: readonly TableColumn[],
  { action }: Operation,
): void {
  const fields = fieldsOf(columns);
  const keys = new Set<unknown>();
  for (const tuple of tuples) {
    const missing = columns.filter(({ index }) => (tuple[index] ?? null) === null);
    if (missing.length > 0) {
      throw dbError(action, { code: "NotNullViolation", fields: fieldsOf(missing) });
    }
    const key = keyOfValues(columns, (column) => tuple[column.index]);
    if (keys.has(key)) {
      const reason = `create has a value of ${fields.join(", ")} twice`;
      throw dbError(action, { code: "UniqueViolation", fields, reason });
    }
    keys.add(key);
  }
}
