/**
 * Runs pending migrations.
 *
 * @module
 */
import type { DbConnection } from "../connection/connection.ts";
import { type MigrationStatus, migrationStatuses } from "./migration_status.ts";
import type { Migrations, MigrationSource } from "./migrations.ts";
import { makeMigrator, namesOf } from "./migrator.ts";
import { nextAlone, runAlone } from "./outside_transaction.ts";
import { changeSchema } from "./schema_change.ts";
import { warn } from "./warning.ts";

/**
 * Runs the pending migrations in their order, under a lock, and returns their names; if none is
 * pending, it does not wait for others that migrate. Logs a warning
 * for each executed one whose script was edited, or that a newer version has added.
 *
 * @throws {TypeError} if the migrations are invalid
 * @throws {DbError} if they cannot be read; `Database` if one fails: PostgreSQL and SQLite then
 * roll all of them back but those before one that runs outside a transaction, MySQL keeps
 * those before the failure, and of its script the statements up to the last that changes a schema
 */
export async function migrate(
  connection: DbConnection,
  source: MigrationSource,
): Promise<readonly string[]> {
  const { brand } = connection.grammar;
  const migrations = await source(brand);
  // Without the lock, an instance starts that has nothing to migrate while another one migrates.
  const found = await migrationStatuses(connection.kysely, { migrations, brand })
    .catch(() => undefined); // under the lock, it fails with a code
  if (found && isDone(found, migrations)) {
    found.forEach(warnOf);
    return [];
  }
  const ran: string[] = [];
  let isFirst = true;
  for (;;) {
    const { names, alone, statuses } = await changeSchema(connection, {
      action: "migrate",
      recreates: true,
      async run(kysely) {
        const statuses = await migrationStatuses(kysely, { migrations, brand });
        if (isDone(statuses, migrations)) return { names: [], alone: undefined, statuses };
        const alone = nextAlone(statuses, { connection, migrations });
        const steps = Object.entries(migrations).filter(([name]) => !alone || name < alone);
        const migrator = makeMigrator(connection, {
          kysely,
          migrations: Object.fromEntries(steps),
        });
        const names = namesOf(await migrator.migrateToLatest(), { action: "migrate", connection });
        return { names, alone, statuses };
      },
    });
    if (isFirst) statuses.forEach(warnOf);
    isFirst = false;
    ran.push(...names);
    if (alone === undefined) return ran;
    ran.push(...await runAlone(alone, { connection, migrations }));
  }
}

/**
 * Checks whether the database has run all of the migrations, and only later ones besides: those of
 * a newer version, beside which this one still runs, or again after it.
 */
function isDone(statuses: readonly MigrationStatus[], migrations: Migrations): boolean {
  const count = Object.keys(migrations).length;
  const isKnown = ({ isMissing, executedAt }: MigrationStatus) => !isMissing && executedAt;
  return statuses.slice(0, count).filter(isKnown).length === count &&
    (count > 0 || statuses.length === 0);
}

function warnOf({ name, isMissing, isEdited }: MigrationStatus): void {
  if (!isMissing && !isEdited) return;
  const how = isMissing
    ? "has run, and is that of a newer version, or its file is missing"
    : "was edited after it ran, which has no effect on this database";
  warn(`Migration {name} ${how}`, { name });
}
