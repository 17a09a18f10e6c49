/**
 * The database of a project: its models and its migrations, and the whole of it where there is none yet.
 *
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { parseEnv } from "node:util";
import { type Database, databaseName, databaseOfUrl } from "../database.ts";
import { addToDatabase } from "../edit/source_file.ts";
import type { FilePlan } from "../file_plan.ts";
import { databaseFiles, migrationFiles } from "../new_project/database_files.ts";
import { databaseVariables, describeVariable } from "../new_project/variables.ts";
import { APP_FILE, DATABASE_FILE } from "../project.ts";
import { editFile } from "./edit_file.ts";
import type { Generation } from "./generation.ts";
import { specifierOf } from "./target.ts";

/** A model that is to be listed. */
export interface ModelListing {
  /** The name that its file exports. */
  readonly name: string;
  /** The name of its repository. */
  readonly accessor: string;
  /** The file. */
  readonly file: string;
}

/** The scripts of a migration. */
export interface MigrationScripts {
  /** What takes the step. */
  readonly up: string;
  /** What undoes it. */
  readonly down: string;
}

/** The file that opens the database of tests. */
export const TEST_DATABASE_FILE = "src/test_database.ts";

const MIGRATIONS = "migrations";

/** Gives the database of a project, by the URL in its environment; SQLite if it says nothing. */
export function databaseOf(plan: FilePlan): Database {
  const urls = [".env", ".env.example"].map((file) => variablesIn(plan, file)["DATABASE_URL"]);
  return databaseOfUrl(urls.find(Boolean) ?? "") ?? "sqlite";
}

/** Plans what a project needs to have a database, if it has none: SQLite, in a file. */
export function ensureDatabase({ plan, project }: Generation): void {
  if (plan.read(DATABASE_FILE) !== undefined) return;
  const database = databaseOf(plan);
  const own = databaseName(basename(project.root));
  plan.createMissing(databaseFiles(database, own));
  for (const variable of databaseVariables(database, own)) {
    const { name, value, isOptional } = variable;
    if (!isOptional) addVariable(plan, { file: ".env", name, lines: `${name}=${value}\n` });
    const lines = `\n${describeVariable(variable)}`;
    addVariable(plan, { file: ".env.example", name, lines });
  }
  plan.note(`The project has a database now: ${DATABASE_FILE}, at DATABASE_URL of .env`);
  plan.note(
    `For its health, in ${APP_FILE}: enableHealthCheck("/health", ` +
      "{ indicators: { db: () => app.get(Db).ping() } })",
  );
}

/** Plans to list a model in the database; where that is not safe, tells the user to. */
export async function listModel(
  generation: Generation,
  { name, accessor, file }: ModelListing,
): Promise<void> {
  const addition = { name, accessor, from: specifierOf(posix.dirname(DATABASE_FILE), file) };
  const isEdited = await editFile(
    generation,
    DATABASE_FILE,
    (source) => addToDatabase(source, addition),
  );
  if (isEdited) return;
  generation.plan.note(
    `Add ${accessor}: ${name} to DbService.with({ … }) in ${DATABASE_FILE}: it was left alone, as it ` +
      "is not written as expected",
  );
}

/** Plans a migration after all others, and the test of them all. */
export function addMigration(
  { plan, project }: Generation,
  { name, up, down }: MigrationScripts & { readonly name: string },
): void {
  plan.createMissing(migrationFiles(databaseOf(plan)));
  const number = numberOf(join(project.root, MIGRATIONS), name);
  plan.create(`${MIGRATIONS}/${number}_${name}.sql`, up);
  plan.create(`${MIGRATIONS}/${number}_${name}.down.sql`, down);
}

/**
 * Gives the number of a migration: the one it has, or that after the highest one, of as many digits, as
 * they run in the order of their text.
 */
function numberOf(folder: string, name: string): string {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const own = files.find((file) => file.replace(/^\d+_/, "") === `${name}.sql`);
  const numbers = (own ? [own] : files).flatMap((file) => /^\d+(?=[_.])/.exec(file) ?? []);
  const highest = numbers.toSorted((a, b) => Number(a) - Number(b)).at(-1) ?? "0000";
  return own ? highest : String(Number(highest) + 1).padStart(highest.length, "0");
}

function variablesIn(plan: FilePlan, file: string): NodeJS.Dict<string> {
  return parseEnv(plan.read(file) ?? "");
}

/** Plans to add a variable to a file that has not got it. */
function addVariable(
  plan: FilePlan,
  { file, name, lines }: { readonly file: string; readonly name: string; readonly lines: string },
): void {
  if (variablesIn(plan, file)[name] !== undefined) return;
  const text = plan.read(file) ?? "";
  plan.update(file, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${lines}`);
}
