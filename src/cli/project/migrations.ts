/**
 * The migrations of a project's database.
 *
 * @module
 */
import type { Project } from "./project.ts";
import { runInProject } from "./script.ts";

/** Where the database is. */
export interface DatabaseOption {
  /** The file that exports `databaseOptions`, from the project's folder. */
  readonly database: string;
}

/** A migration, as `DbMigrations.status()` tells of it, in JSON. */
export interface ListedMigration {
  /** Its name. */
  readonly name: string;
  /** When it was run, as ISO 8601 has it; not there if it was not. */
  readonly executedAt?: string;
  /** Whether the database has run it, and there is no file of it any more. */
  readonly isMissing: boolean;
}

/** Lists the migrations, in their order. */
export async function migrationsOf(
  project: Project,
  options: DatabaseOption,
): Promise<readonly ListedMigration[]> {
  // what DbMigrations gives, as JSON has it
  return await call(project, { ...options, method: "status()" }) as readonly ListedMigration[];
}

/** Runs those that are due, and gives their names. */
export async function migrate(
  project: Project,
  options: DatabaseOption,
): Promise<readonly string[]> {
  return await call(project, { ...options, method: "migrate()" }) as readonly string[]; // as above
}

/** Undoes those that were the last to run, and gives their names. */
export async function rollBack(
  project: Project,
  { steps, ...options }: DatabaseOption & { readonly steps: number },
): Promise<readonly string[]> {
  return await call(project, {
    ...options,
    method: `rollBack({ steps: ${steps} })`,
  }) as readonly string[]; // as above
}

/** Tells what is missing of the tables of the models; nothing if all is there. To be asked when none is due. */
export async function missingTables(
  project: Project,
  { database }: DatabaseOption,
): Promise<string | undefined> {
  const missing = await runInProject(project, {
    file: database,
    name: "Db",
    option: "--database",
    body: `  const { DbError } = await import("@fw/fw/db");
  await using db = await exported.Db.open(await exported.databaseOptions());
  try {
    await db.checkTables();
    return "";
  } catch (error) {
    if (error instanceof DbError && error.code === "Database") return error.message;
    throw error;
  }`,
  });
  return String(missing) || undefined;
}

function call(
  project: Project,
  { database, method }: DatabaseOption & { readonly method: string },
): Promise<unknown> {
  return runInProject(project, {
    file: database,
    name: "databaseOptions",
    option: "--database",
    body: `  const { DbMigrations } = await import("@fw/fw/db");
  await using migrations = await DbMigrations.open(await exported.databaseOptions());
  return await migrations.${method};`,
  });
}
