/** The models and databases that the tests of this folder share. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DbError, type DbErrorCode, DbOptions, DbService, field, model } from "../../src/db/mod.ts";

export const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  email: field.text().unique(),
  name: field.text(),
  active: field.boolean().default(true),
});

/** One column of each kind, nullable; and names that SQL has its own meaning for. */
export const Sample = model("order", {
  select: field.text().primaryKey(),
  integer: field.integer().nullable(),
  text: field.text().nullable(),
  boolean: field.boolean().nullable(),
  real: field.real().nullable(),
});

export class Db extends DbService.with({ user: User, sample: Sample }) {}

/** Opens a database with its tables; in memory unless told otherwise. */
export async function openDb(url = "sqlite::memory:"): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  return db;
}

/** Makes an empty folder that is gone when the test ends. */
export async function temporaryFolder(): Promise<
  AsyncDisposable & { path: (name: string) => string }
> {
  const folder = await mkdtemp(join(tmpdir(), "fw-db-"));
  return {
    path: (name) => join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** For `assert.rejects`: the whole of a DbError but its cause. */
export function dbError(code: DbErrorCode, message: string, fields: readonly string[] = []) {
  return (error: unknown) => {
    assert.ok(error instanceof DbError, String(error));
    assert.deepEqual([error.code, error.message, error.fields], [code, message, fields]);
    return true;
  };
}
