/**
 * Which migrations a database has run.
 *
 * @module
 */
import type { Kysely } from "kysely";
import { DEFAULT_MIGRATION_TABLE } from "kysely/migration";
import type { AnyTables } from "../connection/dialect.ts";
import type { Migrations } from "./migrations.ts";

/** A migration, and what the database knows of it. */
export interface MigrationStatus {
  /** Its name, such as `0001_users`. */
  readonly name: string;
  /** When the database ran it; absent if it has not. */
  readonly executedAt?: Date;
  /** Whether it has a `down`. */
  readonly canRollBack: boolean;
  /**
   * Whether the database has run it and it is gone, as after a change of branch: nothing is migrated or
   * rolled back until it is there again.
   */
  readonly isMissing: boolean;
}

/** Reads which migrations were run, in the order of their names; makes no table. */
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

/** Kysely's migrator leaves out those that are gone. */
async function executedMigrations(kysely: Kysely<AnyTables>): Promise<ReadonlyMap<string, Date>> {
  const tables = await kysely.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return new Map();
  const rows = await kysely.selectFrom(DEFAULT_MIGRATION_TABLE).select(["name", "timestamp"])
    .execute();
  return new Map(rows.map(({ name, timestamp }) => [String(name), new Date(String(timestamp))]));
}
