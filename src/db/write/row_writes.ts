/**
 * The writes of repositories, as one set: a table with hooks has another one.
 *
 * @module
 */
import type { Operation, OperationContext } from "../query/operation.ts";
import type { AnyRow } from "../query/table_column.ts";
import type { ManyInserts } from "./create_many.ts";
import { insertRow } from "./inserts.ts";
import { deleteMany, type ManyUpdate, markMany, updateMany } from "./update_many.ts";
import type { RowUpsert } from "./upsert.ts";
import type { ManyUpserts } from "./upsert_many.ts";
import { deleteRow, markRow, updateRow } from "./writes.ts";

/** The writes without hooks; those that few applications use are loaded at their first use. */
export const PLAIN_WRITES = {
  insertRow,
  updateRow,
  updateMany,
  deleteRow,
  deleteMany,
  markRow,
  markMany,
  async createMany(inserts: ManyInserts, operation: Operation): Promise<number> {
    return await (await import("./create_many.ts")).createMany(inserts, operation);
  },
  async createManyAndReturn(data: unknown, operation: Operation): Promise<AnyRow[]> {
    return await (await import("./create_many.ts")).createManyAndReturn(data, operation);
  },
  async updateManyAndReturn(update: ManyUpdate, operation: Operation): Promise<AnyRow[]> {
    const { updateManyAndReturn } = await import("./update_many_and_return.ts");
    return await updateManyAndReturn(update, operation);
  },
  async upsertRow(upsert: RowUpsert, context: OperationContext): Promise<AnyRow> {
    return await (await import("./upsert.ts")).upsertRow(upsert, context);
  },
  async upsertMany(upserts: ManyUpserts, operation: Operation): Promise<number> {
    return await (await import("./upsert_many.ts")).upsertMany(upserts, operation);
  },
};

/** The writes of a table. */
export type Writes = Readonly<typeof PLAIN_WRITES>;
