/**
 * The writes of tables with hooks: each runs with its hooks in one transaction.
 *
 * @module
 */
import { DbError } from "../errors.ts";
import type { HookEvent } from "../model/hooks.ts";
import { type Operation, type OperationContext, unscoped } from "../query/operation.ts";
import type { Table } from "../query/table.ts";
import { type AnyRow, decodeRow, selectionOf } from "../query/table_column.ts";
import { createTuples, readSkip } from "./create_many.ts";
import { insertRow } from "./inserts.ts";
import { type Change, deleteLocked, lockRow, updateLocked } from "./locked_rows.ts";
import { rowUpsert, skip } from "./many_conflicts.ts";
import { insertRows, type Tuple } from "./many_inserts.ts";
import { keyOfRow } from "./row_reading.ts";
import { PLAIN_WRITES as plain, type Writes } from "./row_writes.ts";
import { type ManyUpdate, markUpdate } from "./update_many.ts";
import { type RowUpsert, updateOrCreate } from "./upsert.ts";
import { readUpserts } from "./upsert_many.ts";
import { readTarget, type RowUpdate, tryUpdate, unmet } from "./writes.ts";

/** The writes of tables with hooks. */
export const HOOKED_WRITES: Writes = {
  insertRow: (values, context, unless) =>
    hooked(context, {
      event: "created",
      write: () => insertRow(values, context, unless),
      rows: (row) => [row],
    }),

  async createMany(options, operation) {
    if (!operation.table.hooks?.created) return await plain.createMany(options, operation);
    if (!readSkip(options, operation)) {
      return (await HOOKED_WRITES.createManyAndReturn(options.data, operation)).length;
    }
    const tuples = createTuples({ name: "data", data: options.data }, operation);
    const rows = await hooked(operation, {
      event: "created",
      write: () => createSkipping(tuples, operation),
      rows: (rows) => rows,
    });
    return rows.length;
  },

  createManyAndReturn: (data, operation) =>
    hooked(operation, {
      event: "created",
      write: () => plain.createManyAndReturn(data, operation),
      rows: (rows) => rows,
    }),

  async updateRow(update, context) {
    if (!context.table.hooks?.updated || update.values.size === 0) {
      return await plain.updateRow(update, context);
    }
    return await updateOne(update, context) ?? await unmet(update.unique, context);
  },

  async updateMany(update, operation) {
    if (!operation.table.hooks?.updated) return await plain.updateMany(update, operation);
    return (await updateAll(update, operation)).length;
  },

  async updateManyAndReturn(update, operation) {
    if (!operation.table.hooks?.updated || update.values.size === 0) {
      return await plain.updateManyAndReturn(update, operation);
    }
    return (await updateAll(update, operation)).map(({ after }) => after);
  },

  async upsertRow(upsert, context) {
    const { hooks } = context.table;
    if (!hooks?.created && !hooks?.updated) return await plain.upsertRow(upsert, context);
    const { unique, created } = upsert;
    return await updateOrCreate({
      unique,
      created,
      update: (isCurrent) => updateOrRead(upsert, { isCurrent, context }),
      create: (unless) => HOOKED_WRITES.insertRow(created, context, unless),
    }, context);
  },

  async upsertMany(upserts, operation) {
    const { hooks, connection } = operation.table;
    if (!hooks?.created && !hooks?.updated) return await plain.upsertMany(upserts, operation);
    const { tuples, updates } = readUpserts(upserts, operation);
    await connection.inSavepoint(async () => {
      for (const tuple of tuples) {
        await HOOKED_WRITES.upsertRow(rowUpsert(tuple, updates, operation.table), operation);
      }
    });
    return tuples.length;
  },

  deleteRow: (unique, context) =>
    hooked(context, {
      event: "deleted",
      write: () => plain.deleteRow(unique, context),
      rows: (row) => [row],
    }),

  async deleteMany(filter, operation) {
    if (!operation.table.hooks?.deleted) return await plain.deleteMany(filter, operation);
    const rows = await hooked(operation, {
      event: "deleted",
      write: () => deleteLocked(filter, operation),
      rows: (rows) => rows,
    });
    return rows.length;
  },

  markRow: (row, operation) =>
    hooked(operation, {
      event: "deleted",
      write: () => plain.markRow(row, operation),
      rows: (row) => [row],
    }),

  async markMany(marks, operation) {
    if (!operation.table.hooks?.deleted) return await plain.markMany(marks, operation);
    const changes = await hooked(operation, {
      event: "deleted",
      write: () => updateLocked(markUpdate(marks, operation), operation),
      rows: (changes) => changes.map(({ after }) => after),
    });
    return changes.length;
  },
};

/** Returns the writes of a table, for writes of several tables. */
export function writesOf({ hooks }: Table): Writes {
  return hooks ? HOOKED_WRITES : plain;
}

/** A write, and the rows for the hooks. */
interface HookedWrite<T> {
  readonly event: HookEvent;
  readonly write: () => Promise<T>;
  readonly rows: (result: T) => readonly (AnyRow | Change)[];
}

async function hooked<T>(
  { table: { hooks, connection } }: OperationContext,
  { event, write, rows }: HookedWrite<T>,
): Promise<T> {
  const hook = hooks?.[event];
  if (!hook) return await write();
  return await connection.inSavepoint(async () => {
    const result = await write();
    const written = rows(result);
    if (written.length > 0) await hook(written);
    return result;
  });
}

/** Updates a row, and reads it before. */
async function updateOne(
  { unique, values }: RowUpdate,
  context: OperationContext,
): Promise<AnyRow | undefined> {
  const changes = await hooked(context, {
    event: "updated",
    async write(): Promise<readonly Change[]> {
      const before = await lockRow(unique, context);
      if (!before) return [];
      const key = keyOfRow(before, context.table);
      const after = await tryUpdate({ unique: key, values }, unscoped(context));
      return after ? [{ before, after }] : [];
    },
    rows: (changes) => changes,
  });
  return changes[0]?.after;
}

async function updateOrRead(
  upsert: RowUpsert,
  { isCurrent, context }: { readonly isCurrent: boolean; readonly context: OperationContext },
): Promise<AnyRow | undefined> {
  if (upsert.values.size === 0) return await readTarget(upsert.unique, context, { isCurrent });
  if (!context.table.hooks?.updated) return await tryUpdate(upsert, context);
  return await updateOne(upsert, context);
}

function updateAll(update: ManyUpdate, operation: Operation): Promise<readonly Change[]> {
  return hooked(operation, {
    event: "updated",
    write: () => updateLocked(update, operation),
    rows: (changes) => changes,
  });
}

/** Creates the rows that have no value of a unique column that another row has. */
async function createSkipping(
  tuples: readonly Tuple[],
  operation: Operation,
): Promise<readonly AnyRow[]> {
  const { table, table: { columns, connection }, action } = operation;
  if (!connection.grammar.returning) return await createEach(tuples, operation);
  const batches = await insertRows(tuples, {
    extend(insertion) {
      const skipping = skip(insertion);
      insertion.section("returning");
      return (insert) => skipping(insert).returning(selectionOf(columns));
    },
    run: async ({ statement }) => (await table.execute(action, statement)).rows,
  }, operation);
  return batches.flat().map((row) => decodeRow(row, columns));
}

/** A statement of MySQL cannot return the rows that it has created. */
async function createEach(tuples: readonly Tuple[], operation: Operation): Promise<AnyRow[]> {
  const rows: AnyRow[] = [];
  for (const tuple of tuples) {
    const values = new Map(
      operation.table.columns.map((column) => [column, tuple[column.index]] as const)
        .filter(([, value]) => value !== undefined),
    );
    try {
      rows.push(await insertRow(values, operation));
    } catch (error) {
      if (!(error instanceof DbError) || error.code !== "UniqueViolation") throw error;
    }
  }
  return rows;
}
