/**
 * The folders of a project's migrations: one, or one for each database that the project keeps.
 *
 * @module
 */
import { join } from "node:path";
import { CliError } from "../terminal/cli_error.ts";
import { isFolder, listFolder } from "../system/files.ts";
import { type Database, databaseOfUrl, DATABASES } from "./database.ts";
import type { Project } from "./project.ts";
import type { Variables } from "./variables.ts";

/** The folder of migrations. */
export const MIGRATIONS = "migrations";

/** The migrations of a database. */
export interface MigrationFolder {
  /** The folder, from that of the project. */
  readonly path: string;
  /** The database, if the folder is of one that the project keeps besides others. */
  readonly database?: Database;
}

/** Finds the folders of a project's migrations. */
export function migrationFolders({ root }: Pick<Project, "root">): readonly MigrationFolder[] {
  const folders = DATABASES.map((database) => ({ path: `${MIGRATIONS}/${database}`, database }))
    .filter(({ path }) => isFolder(join(root, path)));
  return folders.length > 0 ? folders : [{ path: MIGRATIONS }];
}

/**
 * Returns the number of a migration in all folders: that of its name, or the next one. Numbers have
 * the same number of digits, as migrations run in alphabetical order.
 */
export function migrationNumber(
  { root }: Pick<Project, "root">,
  { folders, name }: { readonly folders: readonly MigrationFolder[]; readonly name: string },
): string {
  const files = folders.flatMap(({ path }) => listFolder(join(root, path)));
  const own = files.find((file) => file.replace(/^\d+_/, "") === `${name}.sql`);
  const numbers = (own ? [own] : files).flatMap((file) => /^\d+(?=[_.])/.exec(file) ?? []);
  const highest = numbers.toSorted((a, b) => Number(a) - Number(b)).at(-1) ?? "0000";
  return own ? highest : nextNumber(highest);
}

/** Returns the number after another. */
export function nextNumber(number: string): string {
  return String(Number(number) + 1).padStart(number.length, "0");
}

/** Checks whether migrations are those of the database at `DATABASE_URL`. */
export function isOfDatabaseUrl({ database }: MigrationFolder, variables: Variables): boolean {
  return database === undefined || databaseOfUrl(variables["DATABASE_URL"] ?? "") === database;
}

/**
 * Returns the URL of a database whose migrations a project keeps besides those of the database at
 * `DATABASE_URL`; `undefined` for that one, whose options the project has.
 *
 * @throws {CliError} if its server is unknown
 */
export function urlOfFolder(folder: MigrationFolder, variables: Variables): string | undefined {
  const { database, path } = folder;
  if (database === undefined || isOfDatabaseUrl(folder, variables)) return undefined;
  if (database === "sqlite") return "sqlite::memory:";
  const variable = `DATABASE_URL_${database.toUpperCase()}`;
  const url = variables[variable];
  if (url) return url;
  throw new CliError(`Cannot compare ${path}: ${variable} is not set`);
}
