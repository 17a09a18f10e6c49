/** The models and databases that the tests of this folder share. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DbError,
  type DbErrorCode,
  DbOptions,
  DbService,
  field,
  model,
} from "../../../src/db/mod.ts";
import { afterFile, type Test, test } from "../../support/test.ts";
import { dropDatabases, useDatabase } from "./emptied_databases.ts";
import { createDatabase, SERVERS } from "./servers.ts";

export const User = model("users", {
  id: field.integer().primaryKey(),
  tenant_id: field.text(),
  email: field.text().unique(),
  name: field.text(),
  active: field.boolean().default(true),
});

/** One nullable column of each kind; and names that are reserved words of SQL. */
export const Sample = model("order", {
  select: field.text().primaryKey(),
  integer: field.integer().nullable(),
  bigint: field.bigint().nullable(),
  text: field.text().nullable(),
  boolean: field.boolean().nullable(),
  real: field.real().nullable(),
  decimal: field.decimal({ precision: 18, scale: 4 }).nullable(),
  json: field.json().nullable(),
  timestamp: field.timestamp().nullable(),
  uuid: field.uuid().nullable(),
  blob: field.blob().nullable(),
});

export class Db extends DbService.with({ user: User, sample: Sample }) {}

/** Opens a database with its tables; in memory by default. */
export async function openDb(url = "sqlite::memory:"): Promise<Db> {
  const db = await Db.open(DbOptions.fromUrl(url));
  await db.createTables();
  return db;
}

/** The name of a database brand. */
export type Brand = "sqlite" | "postgres" | "mysql";

/** The database of a test. */
export interface TestDatabase {
  readonly brand: Brand;
  /** Its URL: a database that is empty when the test begins. */
  readonly url: string;
}

/** Options of {@linkcode testOnEach}. */
export interface EachOptions {
  /** Default all three. */
  readonly brands?: readonly Brand[];
  /** Whether the test is slow, or the brands on which it is. */
  readonly slow?: boolean | "long" | readonly Brand[];
  /** The `test` of some runtimes; default that of all. */
  readonly register?: Test;
}

/** Runs a test on each brand, with an empty database. */
export function testOnEach(
  name: string,
  run: (database: TestDatabase) => Promise<void>,
  { brands = ["sqlite", "postgres", "mysql"], slow: slowOn = false, register = test }: EachOptions =
    {},
): void {
  for (const brand of brands) {
    const title = `${name} (${brand})`;
    const slow = typeof slowOn === "object" ? slowOn.includes(brand) : slowOn;
    if (brand === "sqlite") {
      register(title, async () => {
        await using folder = await temporaryFolder();
        await run({ brand, url: `sqlite:${folder.path("data.sqlite")}` });
      }, { slow });
      continue;
    }
    if (brand === "postgres") afterFile(dropDatabases);
    register(title, async () => {
      await using database = await (brand === "mysql" ? createDatabase(brand) : useDatabase());
      await run({ brand, url: database.url });
    }, { skip: SERVERS[brand].skip, slow });
  }
}

/** Runs a test on each database, with the tables of `Db`. */
export function testDbOnEach(
  name: string,
  run: (db: Db, brand: Brand) => Promise<void>,
  options: EachOptions = {},
): void {
  testOnEach(name, async ({ brand, url }) => {
    await using db = await openDb(url);
    await run(db, brand);
  }, options);
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

/** The names of all tables of a database, those of migrations among them. */
export async function tableNames(url: string): Promise<readonly string[]> {
  await using db = await Db.open(DbOptions.fromUrl(url));
  const tables = await db.kysely.introspection.getTables({ withInternalKyselyTables: true });
  return tables.map(({ name }) => name);
}

/** For `assert.rejects`: the whole of a DbError but its cause. */
export function dbError(code: DbErrorCode, message: string, fields: readonly string[] = []) {
  return (error: unknown) => {
    assert.ok(error instanceof DbError, String(error));
    assert.deepEqual([error.code, error.message, error.fields], [code, message, fields]);
    return true;
  };
}

/**
 * For `assert.rejects`: a value of another type, which a client may have sent, is a `DbError`; any
 * other mistake is a `TypeError`.
 */
export function mistake(message: string) {
  const isOfValue = / takes .*, not (?!undefined)\w+$/.test(message);
  return isOfValue
    ? { name: "DbError", code: "CheckViolation", message }
    : { name: "TypeError", message };
}
