/**
 * The tables that migrations keep.
 *
 * @module
 */
import { type DialectAdapter, type Kysely, type RawBuilder, sql } from "kysely";
import { DEFAULT_MIGRATION_LOCK_TABLE, DEFAULT_MIGRATION_TABLE } from "kysely/migration";
import type { AnyTables } from "../connection/dialect.ts";
import type { ScriptBrand } from "./script.ts";

/** The checksums of migrations by name: Kysely's own table has no column for them. */
export const CHECKSUM_TABLE = "fw_migration_checksum";

/** The names of all. */
export const OWN_TABLES: readonly string[] = [
  DEFAULT_MIGRATION_TABLE,
  DEFAULT_MIGRATION_LOCK_TABLE,
  CHECKSUM_TABLE,
];

const NAMES = sql.join(OWN_TABLES.map((name) => sql.lit(name)));
const FOUND: Readonly<Record<ScriptBrand, RawBuilder<{ readonly name: string }>>> = {
  PostgreSQL: sql`select relname as name from pg_class
    where relname in (${NAMES}) and pg_table_is_visible(oid)`,
  MySQL: sql`select table_name as name from information_schema.tables
    where table_schema = database() and table_name in (${NAMES})`,
  SQLite: sql`select name from sqlite_master where type = 'table' and name in (${NAMES})`,
};

/**
 * Returns which of them a session finds by its name. Kysely's introspection reads all tables and
 * views: those of other schemas too, and on SQLite it fails if a view is of a table that is gone.
 */
export async function ownTables(
  kysely: Kysely<AnyTables>,
  brand: ScriptBrand,
): Promise<ReadonlySet<string>> {
  const { rows } = await FOUND[brand].execute(kysely);
  return new Set(rows.map(({ name }) => name));
}

/**
 * Returns a Kysely for Kysely's migrator: its introspection finds these tables only, and it takes
 * no lock besides that of the schema. That of MySQL would be of all databases of the server.
 */
export function migratorKysely(
  kysely: Kysely<AnyTables>,
  brand: ScriptBrand,
): Kysely<AnyTables> {
  // the migrator reads nothing else
  const getTables = async () => Array.from(await ownTables(kysely, brand), (name) => ({ name }));
  return new Proxy(kysely, {
    get(target, name) {
      if (name === "introspection") return { getTables };
      if (name === "getExecutor") return () => ({ adapter: unlocked(target) });
      const value: unknown = Reflect.get(target, name, target); // it has private fields
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Returns the adapter of a Kysely, whose locks do nothing. */
function unlocked(kysely: Kysely<AnyTables>): DialectAdapter {
  const none = () => Promise.resolve();
  return Object.assign(Object.create(kysely.getExecutor().adapter), {
    acquireMigrationLock: none,
    releaseMigrationLock: none,
  });
}
