/**
 * Databases that exist for a moment, to compare their tables.
 *
 * @module
 */
import { type RawBuilder, sql } from "kysely";
import { DbConnection, type OpenDatabase } from "../../connection/connection.ts";
import type { Grammar } from "../../connection/grammar.ts";
import { DbError } from "../../errors.ts";
import type { MigrationSource, UnmigratedDatabase } from "../migrations.ts";
import { quoted } from "./table_schema.ts";

/** How a user gets the permission to create databases, and what needs none. */
const GRANTS: Readonly<Record<Grammar["brand"], string>> = {
  PostgreSQL: "alter role NAME createdb allows it, and --against-database needs none",
  MySQL: "grant all on `fw\\_diff\\_%`.* to NAME allows it",
  SQLite: "",
};

/** Opens the database at a URL, and closes something after it. */
type Connect = (url: string, after?: Pick<OpenDatabase, "close">) => Promise<DbConnection>;

/**
 * Creates an empty database on the server at a URL, and opens it; closing it removes it. One of
 * SQLite is in memory.
 *
 * @throws {TypeError} if the server is known by its driver only
 * @throws {DbError} if the server cannot be reached, the user may not create a database, or a
 * pooler leads to another one
 */
export async function openTemporary(
  url: string | undefined,
  connect: Connect,
): Promise<DbConnection> {
  if (url === undefined) {
    throw new TypeError(
      "Cannot create temporary database: the options are those of a Kysely dialect, not a URL",
    );
  }
  if (url.startsWith("sqlite:")) return await connect("sqlite::memory:");
  const server = await connect(url);
  const { kysely, grammar } = server;
  const name = `fw_diff_${crypto.randomUUID().replaceAll("-", "")}`;
  const identifier = sql.raw(quoted(name, grammar));
  const remove = async () => {
    try {
      if (grammar.brand === "PostgreSQL") {
        // A pooler keeps sessions, which would stop the database from being dropped.
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`
          .execute(kysely);
      }
      await sql`drop database ${identifier}`.execute(kysely);
    } finally {
      await server.close();
    }
  };
  try {
    // A session in the standard template would stop it from being copied.
    const template = sql.raw(grammar.brand === "PostgreSQL" ? " template template0" : "");
    await sql`create database ${identifier}${template}`.execute(kysely);
  } catch (error) {
    await server.close();
    const { cause } = error as Error;
    const reason = cause instanceof Error ? cause.message : "the server refuses it";
    throw new DbError(
      "Database",
      `Cannot create temporary database: ${reason}; ${GRANTS[grammar.brand]}`,
      { cause: error },
    );
  }
  let database: DbConnection;
  try {
    const beside = new URL(url);
    beside.pathname = `/${name}`;
    database = await connect(beside.href, { close: remove });
  } catch (error) {
    await remove();
    throw error;
  }
  try {
    await checkIsNew(database, name);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Which database a session is in, and how many tables and views it has. */
const INSPECT: Readonly<Record<"PostgreSQL" | "MySQL", RawBuilder<Inspected>>> = {
  PostgreSQL: sql`select current_database() as name, count(*) as tables
    from information_schema.tables where table_schema not in ('pg_catalog', 'information_schema')`,
  MySQL: sql`select database() as name, count(*) as tables
    from information_schema.tables where table_schema = database()`,
};

interface Inspected {
  readonly name: string | null;
  readonly tables: unknown;
}

/**
 * Refuses a database other than the one that was created: a pooler can lead every name to the same
 * one, whose rows migrations would change.
 *
 * @throws {DbError} naming it
 */
async function checkIsNew(
  { kysely, grammar: { brand } }: DbConnection,
  created: string,
): Promise<void> {
  if (brand === "SQLite") return;
  const { rows: [found] } = await INSPECT[brand].execute(kysely);
  if (found?.name === created && Number(found.tables) === 0) return;
  throw new DbError(
    "Database",
    `Cannot use temporary database: the server, or a pooler before it, leads ${created} to ` +
      `${found?.name}, which is not the new one; use the address of the server itself`,
  );
}

/**
 * Runs a function with a database, and closes it.
 *
 * @throws {TypeError} if it was opened by another release
 */
export async function within<T>(
  { database, source }: UnmigratedDatabase,
  run: (database: DbConnection, source: MigrationSource | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await run(connectionOf(database), source);
  } finally {
    await database.close();
  }
}

/**
 * Returns the connection of an open database: it is internal, so the type does not include it.
 *
 * @throws {TypeError} if it was opened by another release
 */
export function connectionOf(database: OpenDatabase): DbConnection {
  if (database instanceof DbConnection) return database;
  throw new TypeError("Cannot use temporary database: the options are of another release");
}
