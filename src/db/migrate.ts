/**
 * Brings a database up to date.
 *
 * @module
 */
import type { Kysely } from "kysely";
import { type MigrationResult, Migrator } from "kysely/migration";
import type { DbConnection } from "./connection.ts";
import type { AnyTables } from "./dialect.ts";
import { DbError, dbError } from "./errors.ts";
import { kyselyMigration, type MigrationSource } from "./migrations.ts";
import { changeSchema } from "./schema_change.ts";

/**
 * Runs the migrations that the database has not seen, in their order, under a lock.
 *
 * @throws {TypeError} if the migrations are not sound
 * @throws {DbError} if they cannot be read; `Database` if one fails; what that leaves behind depends on
 * the database: nothing on PostgreSQL and SQLite, all that came before the failing statement on MySQL
 */
export async function migrate(connection: DbConnection, source: MigrationSource): Promise<void> {
  const migrations = await source();
  const runScript = (script: string, kysely: Kysely<AnyTables>) =>
    connection.runScript(script, kysely);
  const steps = Object.entries(migrations).map(([name, step]) =>
    [name, kyselyMigration(step, runScript)] as const
  );
  const migrator = new Migrator({
    db: connection.kysely,
    provider: { getMigrations: () => Promise.resolve(Object.fromEntries(steps)) },
  });
  const run = async () => {
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) throw migrationError(error, connection, results);
  };
  await changeSchema(connection, { action: "migrate", run });
}

function migrationError(
  cause: unknown,
  { grammar }: DbConnection,
  results: readonly MigrationResult[] = [],
): DbError {
  const failed = results.find(({ status }) => status === "Error");
  if (failed) {
    const message = `Cannot migrate: ${failed.migrationName} failed`;
    return new DbError("Database", message, { cause: (cause as Error | null)?.cause ?? cause });
  }
  // So does the migrator begin its own findings, such as a migration that was run and is gone.
  if (cause instanceof Error && cause.message.startsWith("corrupted migrations")) {
    return new DbError("Database", `Cannot migrate: ${cause.message}`, { cause });
  }
  return cause instanceof DbError ? cause : dbError("migrate", grammar.explain(cause), cause);
}
