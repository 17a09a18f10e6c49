/**
 * The tables of an open database.
 *
 * @module
 */
import type { DbConnection } from "../../connection/connection.ts";
import { readMysql } from "./mysql_schema.ts";
import { readPostgres } from "./postgres_schema.ts";
import { readSqlite } from "./sqlite_schema.ts";
import type { Schema } from "./table_schema.ts";

/**
 * Reads the tables of a database; on PostgreSQL those of the current schema, and of others.
 *
 * @throws {DbError} if it fails
 */
export async function readSchema(
  { kysely, grammar: { brand, system } }: DbConnection,
  schemas: readonly string[] = [],
): Promise<Schema> {
  switch (brand) {
    case "PostgreSQL":
      return await readPostgres(kysely, schemas);
    case "MySQL":
      return await readMysql(kysely, { isMariadb: system === "mariadb" });
    case "SQLite":
      return await readSqlite(kysely);
  }
}
