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
import { lazy } from "../../platform/lazy.ts";

const many = lazy(() => import("./create_many.ts"));
const manyAndReturn = lazy(() => import("./update_many_and_return.ts"));
const upsertOne = lazy(() => import("./upsert.ts"));
const upsertRows = lazy(() => import("./upsert_many.ts"));

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
    return await (await many()).createMany(inserts, operation);
  },
  async createManyAndReturn(data: unknown, operation: Operation): Promise<AnyRow[]> {
    return await (await many()).createManyAndReturn(data, operation);
  },
  async updateManyAndReturn(update: ManyUpdate, operation: Operation): Promise<AnyRow[]> {
    const { updateManyAndReturn } = await manyAndReturn();
    return await updateManyAndReturn(update, operation);
  },
  async upsertRow(upsert: RowUpsert, context: OperationContext): Promise<AnyRow> {
    return await (await upsertOne()).upsertRow(upsert, context);
  },
  async upsertMany(upserts: ManyUpserts, operation: Operation): Promise<number> {
    return await (await upsertRows()).upsertMany(upserts, operation);
  },
};

/** The writes of a table. */
export type Writes = Readonly<typeof PLAIN_WRITES>;
