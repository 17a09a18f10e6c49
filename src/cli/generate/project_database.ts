/**
 * The database of a project: its models and its migrations, and the whole of it where there is none yet.
 *
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { addToDatabase } from "../edit/source_file.ts";
import type { FilePlan } from "../file_plan.ts";
import { APP_FILE, DATABASE_FILE, type Project } from "../project.ts";
import { databaseFiles, migrationFiles } from "../templates/database.ts";
import { type Database, databaseName } from "../templates/new_project.ts";
import { databaseVariables, explained } from "../templates/variables.ts";
import { edit } from "./parent_module.ts";
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

const MIGRATIONS = "migrations";

/** Gives the database of a project, by the URL in its environment; SQLite if it says nothing. */
export function databaseOf(plan: FilePlan): Database {
  const [, scheme] = /^DATABASE_URL=["']?([a-z]+):/m.exec(
    plan.read(".env") ?? plan.read(".env.example") ?? "",
  ) ?? [];
  if (scheme === "postgres" || scheme === "postgresql") return "postgres";
  return scheme === "mysql" || scheme === "mariadb" ? "mysql" : "sqlite";
}

/** Plans what a project needs to have a database, if it has none: SQLite, in a file. */
export function ensureDatabase(plan: FilePlan, { root }: Project): void {
  if (plan.read(DATABASE_FILE) !== undefined) return;
  const database = databaseOf(plan);
  const name = databaseName({ name: basename(root) });
  for (const [path, text] of Object.entries(databaseFiles(database, name))) {
    if (plan.read(path) === undefined) plan.create(path, text);
  }
  const variables = databaseVariables(database, name).filter(({ isOptional }) => !isOptional);
  for (const file of [".env", ".env.example"]) {
    const text = plan.read(file) ?? "";
    const missing = variables.filter((variable) => !text.includes(`${variable.name}=`));
    const lines = missing.map((variable) =>
      file === ".env" ? `${variable.name}=${variable.value}\n` : `\n${explained(variable)}`
    );
    if (lines.length > 0) plan.update(file, `${text}${lines.join("")}`);
  }
  plan.note(`The project has a database now: ${DATABASE_FILE}, at DATABASE_URL of .env`);
  plan.note(
    `For its health, in ${APP_FILE}: enableHealthCheck("/health", ` +
      "{ indicators: { db: () => app.get(Db).ping() } })",
  );
}

/** Plans to list a model in the database; where that is not safe, tells the user to. */
export async function listModel(
  plan: FilePlan,
  project: Project,
  { name, accessor, file }: ModelListing,
): Promise<void> {
  const addition = { name, accessor, from: specifierOf(DATABASE_FILE, file) };
  const edited = await edit(
    plan,
    project,
    DATABASE_FILE,
    (source) => addToDatabase(source, addition),
  );
  if (edited) return;
  plan.note(
    `Add ${accessor}: ${name} to DbService.with({ … }) in ${DATABASE_FILE}: it was left alone, as it ` +
      "is not written as expected",
  );
}

/** Plans a migration after all others, and the test of them all. */
export function addMigration(
  plan: FilePlan,
  { root }: Project,
  name: string,
  { up, down }: MigrationScripts,
): void {
  for (const [path, text] of Object.entries(migrationFiles(databaseOf(plan)))) {
    if (plan.read(path) === undefined) plan.create(path, text);
  }
  const number = numberOf(join(root, MIGRATIONS), name);
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
