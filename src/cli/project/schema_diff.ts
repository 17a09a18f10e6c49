/**
 * The difference of a project's models and migrations.
 *
 * @module
 */
import { CliError } from "../terminal/cli_error.ts";
import {
  isOfDatabaseUrl,
  type MigrationFolder,
  migrationFolders,
  MIGRATIONS,
  urlOfFolder,
} from "./migration_folders.ts";
import type { DatabaseOption } from "./migrations.ts";
import type { Project } from "./project.ts";
import { runInProject } from "./script.ts";

/** How models are compared, as for `diffSchema`. */
export interface DiffOptions extends DatabaseOption {
  /** What they are compared with. */
  readonly against: "migrations" | "database";
  /** Names and new names: `users.name:full_name`. */
  readonly renames: readonly string[];
  /** Values of new columns, by `users.age`. */
  readonly fills: Readonly<Record<string, string>>;
}

/** A difference, as `diffSchema` returns it, and the folder of its migrations. */
export interface FolderDiff {
  /** The folder. */
  readonly folder: MigrationFolder;
  /** What the migrations change. */
  readonly changes: readonly string[];
  /** What of it loses data. */
  readonly losses: readonly string[];
  /** Columns without a value for the rows that exist. */
  readonly unfilled: readonly string[];
  /** Possible renames. */
  readonly candidates: readonly string[];
  /** What was not compared. */
  readonly notCompared: readonly string[];
  /** The migrations. */
  readonly migrations: readonly {
    readonly suffix: string;
    readonly up: string;
    readonly down: string;
  }[];
}

/**
 * Compares the models of a project with its migrations, for each database that it keeps, or with
 * the database.
 *
 * @throws {CliError} if a database or a migration fails, or the project's release has no comparison
 */
export async function diffsOf(
  project: Project,
  options: DiffOptions,
): Promise<readonly FolderDiff[]> {
  const variables = await project.variables();
  const folders = migrationFolders(project).filter((folder) =>
    options.against === "migrations" || isOfDatabaseUrl(folder, variables)
  );
  if (folders.length === 0) {
    throw new CliError(
      `Cannot compare with the database: ${MIGRATIONS} has no folder of the one at DATABASE_URL`,
    );
  }
  const diffs: FolderDiff[] = [];
  for (const folder of folders) {
    const url = urlOfFolder(folder, variables);
    diffs.push({ folder, ...await diffOf(project, { ...options, folder, url }) });
  }
  return diffs;
}

async function diffOf(
  project: Project,
  { database, folder, url, against, renames, fills }: DiffOptions & {
    readonly folder: MigrationFolder;
    readonly url: string | undefined;
  },
): Promise<Omit<FolderDiff, "folder">> {
  const databaseOptions = url === undefined
    ? "await exported.databaseOptions()"
    : `DbOptions.fromUrl(${JSON.stringify(url)}).schemaPath(${JSON.stringify(folder.path)})`;
  const diff = await runInProject(project, {
    file: database,
    name: "Db",
    option: "--database",
    cleansUp: true,
    body: `  const { DbOptions, diffSchema } = await import("@fw/fw/db");
  if (diffSchema === undefined) return null;
  return await diffSchema(exported.Db, ${databaseOptions}, {
    ...${JSON.stringify({ against, renames, fills })},
    externalTables: exported.externalTables ?? [],
    signal: aborted,
  });`,
  });
  if (diff) return diff as Omit<FolderDiff, "folder">; // its release wrote it, as this one reads
  throw new CliError(`Cannot compare the models: ${project.framework} does not compare them`);
}

/** A model of a table, as `introspectModels` describes it. */
export interface PulledModel {
  /** Its name. */
  readonly name: string;
  /** Its fields. */
  readonly fields: readonly {
    readonly name: string;
    readonly code: string;
    readonly reference?: { readonly model: string; readonly options: string };
  }[];
  /** Its options, as code. */
  readonly options: string;
  /** What the model lacks. */
  readonly notes: readonly string[];
}

/** The models of a database. */
export interface PulledModels {
  /** The models. */
  readonly models: readonly PulledModel[];
  /** What has no model: `table 2fa, whose name no model can have`. */
  readonly skipped: readonly string[];
}

/**
 * Describes the models of the tables of a project's database.
 *
 * @throws {CliError} if the database cannot be read, or the project's release does not describe it
 */
export async function pulledModels(
  project: Project,
  { database, schemas }: DatabaseOption & { readonly schemas: readonly string[] },
): Promise<PulledModels> {
  const pulled = await runInProject(project, {
    file: database,
    name: "databaseOptions",
    option: "--database",
    body: `  const { introspectModels } = await import("@fw/fw/db");
  if (introspectModels === undefined) return null;
  const schemas = ${JSON.stringify(schemas)};
  const skipped = [];
  const onSkipped = (table) => skipped.push(table);
  const options = await exported.databaseOptions();
  return { models: await introspectModels(options, { schemas, onSkipped }), skipped };`,
  });
  if (pulled) return pulled as PulledModels; // as above
  throw new CliError(`Cannot read the tables: ${project.framework} does not describe them`);
}
