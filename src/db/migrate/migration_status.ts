/**
 * What the database has run of the migrations.
 *
 * @module
 */
import { type Kysely, sql } from "kysely";
import { DEFAULT_MIGRATION_TABLE } from "kysely/migration";
import type { AnyTables } from "../connection/dialect.ts";
import type { Migrations, MigrationStep } from "./migrations.ts";
import { CHECKSUM_TABLE, ownTables } from "./own_tables.ts";
import { checksumOf, refuseBackslashes, type ScriptBrand, splitScript } from "./script.ts";

/** Statements that allow the use of no other tables. */
const LOCKS = /\block\s+tables?\b/i;

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
   * migrating and rolling back fail until it exists again. If those that are missing come after all
   * others, as in the version before, and none is pending, migrating has nothing to do.
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
  { migrations, brand }: { readonly migrations: Migrations; readonly brand: ScriptBrand },
): Promise<readonly MigrationStatus[]> {
  const { times, checksums } = await executedMigrations(kysely, brand);
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

/** A migration that was run. */
export interface RunMigration {
  /** Its name. */
  readonly name: string;
  /** Its script, unless it is a function. */
  readonly script: string | undefined;
  /** The database. */
  readonly brand: ScriptBrand;
}

/** Stores the checksum of a script that was run; of none, removes it. */
export async function storeChecksum(
  kysely: Kysely<AnyTables>,
  { name, script, brand }: RunMigration,
): Promise<void> {
  if (script === undefined && !(await ownTables(kysely, brand)).has(CHECKSUM_TABLE)) return;
  await createChecksumTable(kysely, brand);
  await kysely.deleteFrom(CHECKSUM_TABLE).where("name", "=", name).execute();
  if (script === undefined) return;
  await kysely.insertInto(CHECKSUM_TABLE).values({ name, checksum: await checksumOf(script) })
    .execute();
}

/** A script of a migration of MySQL. */
export interface MysqlScript {
  /** The name of the migration. */
  readonly name: string;
  /** The script. */
  readonly script: string;
  /** Whether it rolls the migration back. */
  readonly isDown: boolean;
}

/**
 * Returns a script of MySQL that runs another one, and writes the entry of its migration, in one
 * transaction: if statements of that script commit it, the entry is in one with those after the
 * last of them. The script may change the database, the quotes and the encoding.
 *
 * @throws {TypeError} if it sets how backslashes in its text are read
 */
export async function withEntry(
  { name, script, isDown }: MysqlScript,
  kysely: Kysely<AnyTables>,
): Promise<string> {
  refuseBackslashes(script);
  await createChecksumTable(kysely, "MySQL"); // which would commit
  const { rows: [state] } = await sql<{ name: string; last: string | null }>`
    select database() as name, max(timestamp) as last from ${sql.table(DEFAULT_MIGRATION_TABLE)}`
    .execute(kysely);
  const time = new Date(Math.max(Date.now(), Date.parse(state?.last ?? "") + 1 || 0));
  const tableOf = (table: string) => `\`${state?.name.replaceAll("`", "``")}\`.${table}`;
  const checksums = tableOf(CHECKSUM_TABLE);
  const entries = tableOf(DEFAULT_MIGRATION_TABLE);
  return [
    "set autocommit = 0", // what follows a statement that commits is a transaction too
    ...splitScript(script.replace(/^\uFEFF/, ""), "MySQL"),
    ...LOCKS.test(script) ? ["unlock tables"] : [],
    `delete from ${checksums} where name = '${name}'`,
    ...isDown ? [`delete from ${entries} where name = '${name}'`] : [
      `insert into ${checksums} (name, checksum) values ('${name}', '${await checksumOf(script)}')`,
      `insert into ${entries} (name, timestamp) values ('${name}', '${time.toISOString()}')`,
    ],
    "commit",
  ].join("\n;\n");
}

async function createChecksumTable(
  kysely: Kysely<AnyTables>,
  brand: ScriptBrand,
): Promise<void> {
  if ((await ownTables(kysely, brand)).has(CHECKSUM_TABLE)) return;
  await kysely.schema.createTable(CHECKSUM_TABLE)
    .addColumn("name", "varchar(255)", (name) => name.notNull().primaryKey())
    .addColumn("checksum", "varchar(64)", (checksum) => checksum.notNull())
    .execute();
}

/** Reads the executed migrations: Kysely's migrator omits those whose source is missing. */
async function executedMigrations(kysely: Kysely<AnyTables>, brand: ScriptBrand): Promise<{
  readonly times: ReadonlyMap<string, Date>;
  readonly checksums: ReadonlyMap<string, string>;
}> {
  const tables = await ownTables(kysely, brand);
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
