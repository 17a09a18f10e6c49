/**
 * Databases that exist for a moment, to compare their tables.
 *
 * @module
 */
import { sql } from "kysely";
import type { DbConnection } from "../../connection/connection.ts";
import { DbError } from "../../errors.ts";
import { quoted } from "./table_schema.ts";

/** What is closed after a database. */
export interface Closeable {
  /** Closes it. */
  close(): Promise<void>;
}

/** How a temporary database is opened. */
export interface TemporaryOptions {
  /** Opens the database on whose server it is created. */
  readonly connect: () => Promise<DbConnection>;
  /** Opens a database of the server by its name, and closes something after it. */
  readonly connectTo: ((name: string, after?: Closeable) => Promise<DbConnection>) | undefined;
  /** Whether it exists once it is open, as one of SQLite in memory. */
  readonly isInMemory: boolean;
}

/**
 * Creates an empty database on the server of another one, and opens it; closing it removes it.
 *
 * @throws {TypeError} if the server is known by its driver only
 * @throws {DbError} if the server cannot be reached, or the user may not create a database
 */
export async function openTemporary(
  { connect, connectTo, isInMemory }: TemporaryOptions,
): Promise<DbConnection> {
  if (!connectTo) {
    throw new TypeError(
      "Cannot create temporary database: the options are those of a Kysely dialect, not a URL",
    );
  }
  if (isInMemory) return await connectTo("");
  const server = await connect();
  const { kysely, grammar } = server;
  const name = `fw_diff_${crypto.randomUUID().replaceAll("-", "")}`;
  const identifier = sql.raw(quoted(name, grammar));
  const remove = async () => {
    try {
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
    throw new DbError("Database", `Cannot create temporary database: ${reason}`, { cause: error });
  }
  try {
    return await connectTo(name, { close: remove });
  } catch (error) {
    await remove();
    throw error;
  }
}
