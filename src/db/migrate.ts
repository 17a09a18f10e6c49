/**
 * Brings a database up to date.
 *
 * @module
 */
import type { Kysely } from "kysely";
import { type MigrationResult, Migrator } from "kysely/migration";
import type { DbConnection } from "./connection.ts";
import type { AnyTables } from "./dialect.ts";
import { DbError } from "./errors.ts";
import { kyselyMigration, type MigrationSource } from "./migrations.ts";

/**
 * Runs the migrations that the database has not seen, in their order, under a lock.
 *
 * @throws {DbError} `Database` if one fails; what that leaves behind depends on the database: nothing
 * on PostgreSQL and SQLite, all that came before the failing statement on MySQL
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
    if (error !== undefined) throw migrationError(error, results);
  };
  await (connection.transactionsLock ? connection.transaction(run) : run());
}

function migrationError(cause: unknown, results: readonly MigrationResult[] = []): DbError {
  const failed = results.find(({ status }) => status === "Error");
  const reason = failed
    ? `${failed.migrationName} failed`
    : cause instanceof Error
    ? cause.message
    : "the database failed";
  return new DbError("Database", `Cannot migrate: ${reason}`, { cause });
}
