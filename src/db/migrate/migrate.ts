/**
 * Runs migrations and rolls them back.
 *
 * @module
 */
import type { Kysely } from "kysely";
import {
  DEFAULT_MIGRATION_TABLE,
  type MigrationResultSet,
  Migrator,
  NO_MIGRATIONS,
} from "kysely/migration";
import type { DbConnection } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { DbError, dbError } from "../errors.ts";
import { kyselyMigration, type Migrations, type MigrationSource } from "./migrations.ts";
import { changeSchema } from "./schema_change.ts";

type Action = "migrate" | "roll back";

/**
 * Runs the pending migrations in their order, under a lock, and returns their names.
 *
 * @throws {TypeError} if the migrations are invalid
 * @throws {DbError} if they cannot be read; `Database` if one fails: PostgreSQL and SQLite then
 * roll all of them back, MySQL keeps the statements before the failure
 */
export async function migrate(
  connection: DbConnection,
  source: MigrationSource,
): Promise<readonly string[]> {
  const migrations = await source();
  const hasNone = Object.keys(migrations).length === 0;
  // The executed migrations may all be missing, which the migrator reports.
  if (hasNone && (await migrationStatuses(connection.kysely, migrations)).length === 0) {
    return [];
  }
  const run = async (kysely: Kysely<AnyTables>) => {
    const migrator = makeMigrator(connection, { kysely, migrations });
    return namesOf(await migrator.migrateToLatest(), { action: "migrate", connection });
  };
  return await changeSchema(connection, { action: "migrate", recreates: true, run });
}

/**
 * Rolls back the last `steps` executed migrations, newest first, under a lock, and
 * returns their names.
 *
 * @throws {TypeError} if the migrations are invalid, or one of those has no `down`
 * @throws {DbError} if they cannot be read; `Database` if one is missing or fails: PostgreSQL and
 * SQLite then roll back none of them, MySQL keeps the statements before the failure
 */
export async function rollBack(
  connection: DbConnection,
  { source, steps }: { readonly source: MigrationSource; readonly steps: number },
): Promise<readonly string[]> {
  const migrations = await source();
  const run = async (kysely: Kysely<AnyTables>) => {
    const statuses = await migrationStatuses(kysely, migrations);
    const executed = statuses.filter(({ executedAt }) => executedAt);
    if (executed.length === 0) return [];
    for (const status of executed.slice(-steps).toReversed()) checkDown(status);
    const target = executed.at(-steps - 1)?.name ?? NO_MIGRATIONS;
    const migrator = makeMigrator(connection, { kysely, migrations });
    return namesOf(await migrator.migrateTo(target), { action: "roll back", connection });
  };
  return await changeSchema(connection, { action: "roll back", recreates: true, run });
}

/** A migration, and whether the database has run it. */
export interface MigrationStatus {
  /** Its name, such as `0001_users`. */
  readonly name: string;
  /** When the database ran it; absent if it has not. */
  readonly executedAt?: Date;
  /** Whether it has a `down`. */
  readonly canRollBack: boolean;
  /**
   * Whether the database has run it and its source is missing, as after a change of branch:
   * migrating and rolling back fail until it exists again.
   */
  readonly isMissing: boolean;
}

/** Returns all migrations in the order of their names; creates no table. */
export async function migrationStatuses(
  kysely: Kysely<AnyTables>,
  migrations: Migrations,
): Promise<readonly MigrationStatus[]> {
  const executed = await executedMigrations(kysely);
  const names = new Set([...Object.keys(migrations), ...executed.keys()]);
  return [...names].toSorted().map((name) => {
    const step = Object.hasOwn(migrations, name) ? migrations[name] : undefined;
    const executedAt = executed.get(name);
    return {
      name,
      ...executedAt && { executedAt },
      canRollBack: typeof step === "object" && step.down !== undefined,
      isMissing: step === undefined,
    };
  });
}

/** Kysely would skip it, and undo earlier ones. It refuses a missing one itself. */
function checkDown({ name, canRollBack, isMissing }: MigrationStatus): void {
  if (canRollBack || isMissing) return;
  throw new TypeError(`Cannot roll back: ${name} has no down`);
}

function makeMigrator(
  connection: DbConnection,
  { kysely, migrations }: { kysely: Kysely<AnyTables>; migrations: Migrations },
): Migrator {
  const runScript = (script: string, kysely: Kysely<AnyTables>) =>
    connection.runScript(script, kysely);
  const steps = Object.entries(migrations).map(([name, step]) =>
    [name, kyselyMigration(step, runScript)] as const
  );
  return new Migrator({
    db: kysely,
    provider: { getMigrations: () => Promise.resolve(Object.fromEntries(steps)) },
  });
}

/** Returns the names of the migrations in a result, or throws its error. */
function namesOf(
  { error, results = [] }: MigrationResultSet,
  { action, connection }: { readonly action: Action; readonly connection: DbConnection },
): readonly string[] {
  if (error === undefined) return results.map(({ migrationName }) => migrationName);
  const failed = results.find(({ status }) => status === "Error");
  if (failed) {
    const message = `Cannot ${action}: ${failed.migrationName} failed`;
    throw new DbError("Database", message, { cause: (error as Error | null)?.cause ?? error });
  }
  // The start of the migrator's own messages, such as that an executed migration is missing.
  if (error instanceof Error && error.message.startsWith("corrupted migrations")) {
    throw new DbError("Database", `Cannot ${action}: ${error.message}`, { cause: error });
  }
  throw error instanceof DbError
    ? error
    : dbError(action, connection.grammar.explain(error), error);
}

/** Reads the executed migrations: Kysely's migrator omits those whose source is missing. */
async function executedMigrations(kysely: Kysely<AnyTables>): Promise<ReadonlyMap<string, Date>> {
  const tables = await kysely.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return new Map();
  const rows = await kysely.selectFrom(DEFAULT_MIGRATION_TABLE).select(["name", "timestamp"])
    .execute();
  return new Map(rows.map(({ name, timestamp }) => [String(name), new Date(String(timestamp))]));
}
