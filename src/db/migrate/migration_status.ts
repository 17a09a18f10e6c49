/**
 * What the database has run of the migrations.
 *
 * @module
 */
import type { Kysely } from "kysely";
import { DEFAULT_MIGRATION_TABLE } from "kysely/migration";
import type { AnyTables } from "../connection/dialect.ts";
import type { Migrations, MigrationStep } from "./migrations.ts";
import { checksumOf } from "./script.ts";

/** The checksums of migrations by name: Kysely's own table has no column for them. */
const CHECKSUM_TABLE = "fw_migration_checksum";

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
  /**
   * Whether its script differs from the one that the database has run, in more than line endings;
   * `false` for functions, and where the checksum is unknown.
   */
  readonly isEdited: boolean;
}

/** Returns all migrations in the order of their names; creates no table. */
export async function migrationStatuses(
  kysely: Kysely<AnyTables>,
  migrations: Migrations,
): Promise<readonly MigrationStatus[]> {
  const { times, checksums } = await executedMigrations(kysely);
  const names = new Set([...Object.keys(migrations), ...times.keys()]);
  return await Promise.all(
    [...names].toSorted().map(async (name) => {
      const step = Object.hasOwn(migrations, name) ? migrations[name] : undefined;
      const executedAt = times.get(name);
      const script = scriptOf(step);
      const checksum = executedAt && checksums.get(name);
      return {
        name,
        ...executedAt && { executedAt },
        canRollBack: typeof step === "object" && step.down !== undefined,
        isMissing: step === undefined,
        isEdited: script !== undefined && checksum !== undefined &&
          checksum !== await checksumOf(script),
      };
    }),
  );
}

/** Returns the script that runs a migration, unless a function does. */
export function scriptOf(step: MigrationStep | undefined): string | undefined {
  const up = typeof step === "object" ? step.up : step;
  return typeof up === "string" ? up : undefined;
}

/** Stores the checksum of a script that was run; of none, removes it. */
export async function storeChecksum(
  kysely: Kysely<AnyTables>,
  { name, script }: { readonly name: string; readonly script: string | undefined },
): Promise<void> {
  if (!(await tableNames(kysely)).has(CHECKSUM_TABLE)) {
    if (script === undefined) return;
    await kysely.schema.createTable(CHECKSUM_TABLE)
      .addColumn("name", "varchar(255)", (name) => name.notNull().primaryKey())
      .addColumn("checksum", "varchar(64)", (checksum) => checksum.notNull())
      .execute();
  }
  await kysely.deleteFrom(CHECKSUM_TABLE).where("name", "=", name).execute();
  if (script === undefined) return;
  await kysely.insertInto(CHECKSUM_TABLE).values({ name, checksum: await checksumOf(script) })
    .execute();
}

/** Reads the executed migrations: Kysely's migrator omits those whose source is missing. */
async function executedMigrations(kysely: Kysely<AnyTables>): Promise<{
  readonly times: ReadonlyMap<string, Date>;
  readonly checksums: ReadonlyMap<string, string>;
}> {
  const tables = await tableNames(kysely);
  const executed = tables.has(DEFAULT_MIGRATION_TABLE)
    ? await kysely.selectFrom(DEFAULT_MIGRATION_TABLE).select(["name", "timestamp"]).execute()
    : [];
  const stored = tables.has(CHECKSUM_TABLE)
    ? await kysely.selectFrom(CHECKSUM_TABLE).select(["name", "checksum"]).execute()
    : [];
  return {
    times: new Map(
      executed.map(({ name, timestamp }) => [String(name), new Date(String(timestamp))]),
    ),
    checksums: new Map(stored.map(({ name, checksum }) => [String(name), String(checksum)])),
  };
}

async function tableNames(kysely: Kysely<AnyTables>): Promise<ReadonlySet<string>> {
  const tables = await kysely.introspection.getTables({ withInternalKyselyTables: true });
  return new Set(tables.map(({ name }) => name));
}
