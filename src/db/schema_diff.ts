/**
 * The difference of models and migrations, for tools.
 *
 * @module
 */
import type { OpenDatabase } from "./connection/connection.ts";
import type { IntrospectedModel, IntrospectOptions } from "./migrate/diff/introspected_models.ts";
import type { SchemaDiff, SchemaDiffOptions } from "./migrate/diff/schema_diff.ts";
import type { DbOptions } from "./options.ts";
import type { Table } from "./query/table.ts";

/** The class of a service, as far as its models are compared. */
export interface ComparedService {
  /** Takes over an open database. */
  new (database: OpenDatabase): {
    /** The tables of the models. */
    readonly "~tables": readonly unknown[];
  };
}

/**
 * Compares the models of a service with the migrations of options, which run on an empty database
 * that is removed afterwards, or with the tables of the database itself; and writes the migration
 * that is missing, for that database. It changes nothing. `fw db diff` calls it.
 *
 * @example
 * ```ts
 * import { DbOptions, DbService, diffSchema, field, model } from "@fw/fw/db";
 *
 * const User = model("users", {
 *   id: field.integer().primaryKey(),
 *   age: field.integer().nullable(),
 * });
 * class Db extends DbService.with({ user: User }) {}
 *
 * const options = DbOptions.fromUrl("sqlite::memory:").migrations({
 *   "0001_users": "create table users (id integer primary key autoincrement) strict",
 * });
 * const { changes, migrations: [migration] } = await diffSchema(Db, options);
 * console.assert(changes[0] === "add column users.age: integer");
 * console.assert(migration?.up === 'alter table "users" add column "age" integer;\n');
 * ```
 *
 * @throws {TypeError} if a rename, or what it names, is invalid, or the options have no migrations,
 * or one has a statement that acts outside of its database, such as `use`: a script is refused
 * before any runs, a function when it reaches the statement
 * @throws {DbError} if a database cannot be created, or a migration fails
 */
export async function diffSchema(
  Service: ComparedService,
  options: DbOptions,
  how: SchemaDiffOptions = {},
): Promise<SchemaDiff> {
  const { compareModels } = await import("./migrate/diff/schema_diff.ts");
  return await compareModels({
    options,
    // their class is internal, so the type of a service does not include it
    tablesIn: (database) => new Service(database)["~tables"] as readonly Table[],
  }, how);
}

/**
 * Reads the tables of a database, and describes their models as code, each after those that it
 * refers to. `fw db pull` calls it. On PostgreSQL the tables are those of the current schema, and
 * of others that are named.
 *
 * @throws {DbError} if the database cannot be opened or read
 */
export async function introspectModels(
  options: DbOptions,
  how: IntrospectOptions = {},
): Promise<readonly IntrospectedModel[]> {
  const { introspect } = await import("./migrate/diff/schema_diff.ts");
  return await introspect(options, how);
}
