/**
 * The migrations of a project's database.
 *
 * @module
 */
import type { Project } from "./project.ts";
import { runInProject } from "./script.ts";

/** The file of the database. */
export interface DatabaseOption {
  /** The file that exports `databaseOptions`, from the project's folder. */
  readonly database: string;
}

/** A migration, as `DbMigrations.status()` lists it, in JSON. */
export interface ListedMigration {
  /** Its name. */
  readonly name: string;
  /** When it was run, in ISO 8601; missing if it was not. */
  readonly executedAt?: string;
  /** Whether it was run, and its file is missing. */
  readonly isMissing: boolean;
  /** Whether its script was edited after it was run. */
  readonly isEdited: boolean;
}

/** Lists the migrations in their order. */
export async function migrationsOf(
  project: Project,
  options: DatabaseOption,
): Promise<readonly ListedMigration[]> {
  // the result of DbMigrations, as JSON
  return await call(project, { ...options, method: "status()" }) as readonly ListedMigration[];
}

/** Runs pending migrations, and returns their names. */
export async function migrate(
  project: Project,
  options: DatabaseOption,
): Promise<readonly string[]> {
  return await call(project, {
    ...options,
    method: "migrate()",
    showsOutput: true,
  }) as readonly string[]; // as above
}

/**
 * Rolls back migrations, newest first, and returns their names.
 *
 * @throws {CliError} if they are not the last ones by then
 */
export async function rollBack(
  project: Project,
  { names, ...options }: DatabaseOption & { readonly names: readonly string[] },
): Promise<readonly string[]> {
  return await call(project, {
    ...options,
    method: `rollBack(${JSON.stringify({ names })})`,
    showsOutput: true,
  }) as readonly string[]; // as above
}

/** Lists the differences between the tables and the models, if no migration is pending. */
export async function tableDifferences(
  project: Project,
  { database }: DatabaseOption,
): Promise<readonly string[]> {
  const message = await runInProject(project, {
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
  const [first = "", ...differences] = String(message).split(/\n */);
  return differences.length > 0 || first === "" ? differences : [first];
}

function call(
  project: Project,
  { database, method, showsOutput = false }: DatabaseOption & {
    readonly method: string;
    readonly showsOutput?: boolean;
  },
): Promise<unknown> {
  return runInProject(project, {
    file: database,
    name: "databaseOptions",
    option: "--database",
    showsOutput,
    body: `  const { DbMigrations } = await import("@fw/fw/db");
  await using migrations = await DbMigrations.open(await exported.databaseOptions());
  return await migrations.${method};`,
  });
}
