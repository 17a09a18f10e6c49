/**
 * Rolls migrations back.
 *
 * @module
 */
import type { Kysely } from "kysely";
import { NO_MIGRATIONS } from "kysely/migration";
import type { DbConnection } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { DbError } from "../errors.ts";
import { type MigrationStatus, migrationStatuses } from "./migration_status.ts";
import type { MigrationSource } from "./migrations.ts";
import { makeMigrator, namesOf } from "./migrator.ts";
import { changeSchema } from "./schema_change.ts";

/** What to roll back. */
export interface RollBack {
  readonly source: MigrationSource;
  /** How many of the last migrations. */
  readonly steps: number;
  /** The names of the last ones, newest first, if the caller has chosen them before the lock. */
  readonly names?: readonly string[] | undefined;
}

/**
 * Rolls back the last `steps` executed migrations, newest first, under a lock, and
 * returns their names.
 *
 * @throws {TypeError} if the migrations are invalid, or one of those has no `down`
 * @throws {DbError} if they cannot be read; `Database` if their names are others, or one is missing
 * or fails: PostgreSQL and SQLite then roll back none of them, MySQL those before the failure, and
 * of its script the statements up to the last that changes a schema
 */
export async function rollBack(
  connection: DbConnection,
  { source, steps, names }: RollBack,
): Promise<readonly string[]> {
  const { brand } = connection.grammar;
  const migrations = await source(brand);
  const run = async (kysely: Kysely<AnyTables>) => {
    const statuses = await migrationStatuses(kysely, { migrations, brand });
    const executed = statuses.filter(({ executedAt }) => executedAt);
    const last = executed.slice(-steps).toReversed();
    if (names) checkNames(names, last);
    if (executed.length === 0) return [];
    last.forEach(checkDown);
    const target = executed.at(-steps - 1)?.name ?? NO_MIGRATIONS;
    const migrator = makeMigrator(connection, { kysely, migrations });
    return namesOf(await migrator.migrateTo(target), { action: "roll back", connection });
  };
  return await changeSchema(connection, { action: "roll back", recreates: true, run });
}

/** What the caller has chosen may have been rolled back meanwhile, while it waited for the lock. */
function checkNames(names: readonly string[], last: readonly MigrationStatus[]): void {
  const found = last.map(({ name }) => name);
  if (names.join() === found.join()) return;
  const now = found[0] === undefined ? "no migration has run" : `the last is ${found[0]} by now`;
  throw new DbError("Database", `Cannot roll back ${names.join(", ")}: ${now}`);
}

/** Kysely would skip it, and undo earlier ones. It refuses a missing one itself. */
function checkDown({ name, canRollBack, isMissing }: MigrationStatus): void {
  if (canRollBack || isMissing) return;
  throw new TypeError(`Cannot roll back: ${name} has no down`);
}
