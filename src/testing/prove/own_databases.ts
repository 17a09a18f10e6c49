/**
 * The databases of a run: each application has empty ones of its own.
 *
 * @module
 */
import { provide, type Provider } from "../../core/module/provider.ts";
import type { OpenDatabase } from "../../db/connection/connection.ts";
import { migrateConfined } from "../../db/migrate/diff/confined_migrations.ts";
import { connectionOf } from "../../db/migrate/diff/temporary_database.ts";
import { DbOptions } from "../../db/options.ts";
import type { DbService } from "../../db/service.ts";
import type { ProveOptions, ProveRunOptions } from "./options.ts";

/** The class of a database. */
export type DbClass = new (database: OpenDatabase) => DbService;

/** What the databases of a run are made from. */
export interface OwnDatabaseOptions extends Pick<ProveRunOptions, "database"> {
  /** The migrations; `undefined` for the tables of the models. */
  readonly migrations: ProveOptions["migrations"] | undefined;
}

/**
 * Provides databases on the server at a URL, in memory by default, with the tables of their models,
 * or of migrations; closing them removes them.
 */
export function ownDatabases(
  classes: readonly DbClass[],
  { database: url = "sqlite::memory:", migrations }: OwnDatabaseOptions,
): readonly Provider[] {
  const server = withMigrations(DbOptions.fromUrl(url), migrations);
  return classes.map((Database) => provide(Database, () => openOwn(Database, server)));
}

function withMigrations(options: DbOptions, migrations: ProveOptions["migrations"]): DbOptions {
  if (migrations === undefined) return options;
  return typeof migrations === "string"
    ? options.schemaPath(migrations)
    : options.migrations(migrations);
}

async function openOwn(Database: DbClass, server: DbOptions): Promise<DbService> {
  const { database, source } = await server.openTemporary();
  try {
    if (source) {
      const otherwise = "prove with the tables of the models";
      await migrateConfined(connectionOf(database), { source, otherwise });
    }
    const db = new Database(database);
    if (!source) await db.createTables();
    return db;
  } catch (error) {
    await database.close();
    throw error;
  }
}
