/**
 * Brings a database up to date.
 *
 * @module
 */
import { type Kysely, sql } from "kysely";
import { type MigrationResult, Migrator } from "kysely/migration";
import type { DbConnection } from "./connection.ts";
import type { AnyTables } from "./dialect.ts";
import { DbError, dbError } from "./errors.ts";
import { kyselyMigration, type MigrationSource } from "./migrations.ts";
import { backOff } from "./transaction.ts";

/** How long to wait for another instance that migrates, where there is no lock to wait for. */
const MAX_WAIT_MS = 60_000;

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
    if (connection.grammar.brand === "SQLite") await checkForeignKeys(connection);
  };
  if (connection.grammar.brand !== "SQLite") await run();
  else await withoutForeignKeys(() => runInTransaction(run, connection), connection);
}

/**
 * SQLite alters much of a table only by making it anew. Foreign keys would then delete the rows that
 * refer to the old one; they are checked when all is done.
 */
async function withoutForeignKeys(
  run: () => Promise<void>,
  { kysely }: DbConnection,
): Promise<void> {
  const { rows: [state] } = await sql<{ foreign_keys: number }>`pragma foreign_keys`.execute(
    kysely,
  );
  if (!state?.foreign_keys) return await run();
  await sql`pragma foreign_keys = off`.execute(kysely);
  try {
    await run();
  } finally {
    await sql`pragma foreign_keys = on`.execute(kysely);
  }
}

/** SQLite has no other lock, and Kysely's migrator begins no transaction there. */
async function runInTransaction(run: () => Promise<void>, connection: DbConnection): Promise<void> {
  const endsAt = Date.now() + MAX_WAIT_MS;
  let hasBegun = false;
  for (let attempt = 0;; attempt++) {
    try {
      return await connection.transaction(() => {
        hasBegun = true;
        return run();
      });
    } catch (error) {
      // Some databases that are reached over the network, such as D1, have no transactions.
      if (!hasBegun && !connection.transactionsLock) return await run();
      const { code } = connection.grammar.explain((error as Error).cause ?? {});
      const isBusy = code === "PoolTimeout" || code === "SerializationFailure";
      if (!isBusy || Date.now() > endsAt) throw error;
    }
    await backOff(attempt);
  }
}

async function checkForeignKeys({ kysely }: DbConnection): Promise<void> {
  const { rows: [broken] } = await sql<{ table: string }>`pragma foreign_key_check`.execute(kysely);
  if (!broken) return;
  throw new DbError("Database", `Cannot migrate: rows of ${broken.table} refer to none`);
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
