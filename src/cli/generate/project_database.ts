/**
 * The database of a project: its models, its migrations, and its files if they are missing.
 *
 * @module
 */
import { basename, posix } from "node:path";
import { parseEnv } from "node:util";
import { CliError } from "../terminal/cli_error.ts";
import { type Database, databaseName, databaseOfUrl } from "../project/database.ts";
import { addHealthIndicator, overrideDatabase } from "../edit/database_use.ts";
import { exportsName, specifierOfName } from "../edit/imports.ts";
import { addToDatabase } from "../edit/source_file.ts";
import { parseModule } from "../edit/syntax.ts";
import type { FilePlan } from "../system/file_plan.ts";
import { PACKAGE } from "../project/framework.ts";
import { databaseFiles, migrationFiles, testDatabaseFiles } from "../new_project/database_files.ts";
import { databaseVariables, describeVariable } from "../new_project/variables.ts";
import { migrationFolders, migrationNumber } from "../project/migration_folders.ts";
import { APP_FILE, DATABASE_FILE } from "../project/project.ts";
import { editFile } from "./edit_project.ts";
import { type Generation, specifierOf } from "./target.ts";

/** A model to list. */
export interface ModelListing {
  /** The exported name. */
  readonly name: string;
  /** The name of its repository. */
  readonly accessor: string;
  /** The file. */
  readonly file: string;
}

/** The scripts of a migration. */
export interface MigrationScripts {
  /** Applies the migration. */
  readonly up: string;
  /** Reverts it. */
  readonly down: string;
}

/** The file that opens a database for tests. */
export const TEST_DATABASE_FILE = "src/test_database.ts";

const APP_TEST_FILE = "src/app_test.ts";

/** Returns the kind of database of a project by the URL in its environment; default SQLite. */
async function databaseOf({ plan, project }: Generation): Promise<Database> {
  const { DATABASE_URL } = await project.variables();
  const url = DATABASE_URL || variablesIn(plan, ".env.example")["DATABASE_URL"];
  return databaseOfUrl(url ?? "") ?? "sqlite";
}

/**
 * Plans the missing files of a project's database: a SQLite file unless the environment
 * names another.
 *
 * @throws {CliError} if the project has another database file than `fw` writes
 */
export async function ensureDatabase(generation: Generation): Promise<void> {
  const { plan, project } = generation;
  const existing = plan.read(DATABASE_FILE);
  const database = await databaseOf(generation);
  const own = databaseName(basename(project.root));
  if (existing !== undefined) {
    for (const name of ["Db", "DatabaseModule"]) {
      if (await exportsName(existing, name)) continue;
      throw new CliError(`Cannot use the database: ${DATABASE_FILE} exports no ${name}`);
    }
    return plan.createMissing(testDatabaseFiles(database));
  }
  plan.createMissing(databaseFiles(database, own));
  for (const variable of databaseVariables(database, own)) {
    const { name, value, isOptional } = variable;
    if (!isOptional) addVariable(plan, { file: ".env", name, lines: `${name}=${value}\n` });
    const lines = `\n${describeVariable(variable)}`;
    addVariable(plan, { file: ".env.example", name, lines });
  }
  plan.note(`The project now has a database: ${DATABASE_FILE}, at DATABASE_URL of .env`);
  const from = specifierOf(posix.dirname(APP_FILE), DATABASE_FILE);
  const hasIndicator = await editFile(generation, {
    path: APP_FILE,
    change: (source) => addHealthIndicator(source, { from }),
  });
  if (!hasIndicator) {
    plan.note(
      `To check its health: enableHealthCheck("/health", ` +
        `{ indicators: { db: () => app.get(Db).ping() } }), with Db of ${DATABASE_FILE}`,
    );
  }
  const imports = { provide: PACKAGE, Db: from, openTestDatabase: "./test_database.ts" };
  const isOverridden = await editFile(generation, {
    path: APP_TEST_FILE,
    change: (source) => overrideDatabase(source, imports),
  });
  if (!isOverridden) {
    plan.note(`Tests of AppModule need overrides: [provide(Db, openTestDatabase)]`);
  }
  if (database === "sqlite") addToImage(plan);
}

/**
 * Checks that the name of a model is free.
 *
 * @throws {CliError} if the database has another model of the name
 */
export async function checkModelName(plan: FilePlan, listing: ModelListing): Promise<void> {
  const program = await parseModule(plan.read(DATABASE_FILE) ?? "");
  const other = program && specifierOfName(program, listing.name);
  if (other === undefined || other === specifierOf(posix.dirname(DATABASE_FILE), listing.file)) {
    return;
  }
  throw new CliError(
    `Cannot generate ${listing.file}: ${DATABASE_FILE} has another ${listing.name}, of ${other}`,
  );
}

/** Plans to list a model in the database, or adds a note if that is not safe. */
export async function listModel(
  generation: Generation,
  { name, accessor, file }: ModelListing,
): Promise<void> {
  const from = specifierOf(posix.dirname(DATABASE_FILE), file);
  const isEdited = await editFile(generation, {
    path: DATABASE_FILE,
    change: (source) => addToDatabase(source, { name, accessor, from }),
  });
  if (isEdited) return;
  generation.plan.note(
    `Add ${accessor}: ${name} to DbService.with({ … }) in ${DATABASE_FILE}: its ` +
      "code is not as expected",
  );
}

/** Plans a migration after all others, for each database, and the test of all migrations. */
export async function addMigration(
  generation: Generation,
  { name, scripts }: {
    readonly name: string;
    readonly scripts: (database: Database) => MigrationScripts;
  },
): Promise<void> {
  const { plan, project } = generation;
  const main = await databaseOf(generation);
  plan.createMissing(migrationFiles(main));
  const folders = migrationFolders(project);
  const number = migrationNumber(project, { folders, name });
  for (const { path, database = main } of folders) {
    const { up, down } = scripts(database);
    plan.create(`${path}/${number}_${name}.sql`, up);
    plan.create(`${path}/${number}_${name}.down.sql`, down);
  }
}

function variablesIn(plan: FilePlan, file: string): NodeJS.Dict<string> {
  return parseEnv(plan.read(file) ?? "");
}

/** Plans to add a variable to a file, unless it is there. */
function addVariable(
  plan: FilePlan,
  { file, name, lines }: { readonly file: string; readonly name: string; readonly lines: string },
): void {
  if (variablesIn(plan, file)[name] !== undefined) return;
  const text = plan.read(file) ?? "";
  plan.update(file, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${lines}`);
}

/** Plans to set the URL of the database in the image of the project. */
function addToImage(plan: FilePlan): void {
  const line = "ENV DATABASE_URL=sqlite:data/data.sqlite\n";
  const text = plan.read("Dockerfile");
  if (text === undefined || text.includes("DATABASE_URL")) return;
  if (text.includes("\nEXPOSE ")) {
    plan.update("Dockerfile", text.replace("\nEXPOSE ", `\n${line}EXPOSE `));
  } else plan.note(`Add to the Dockerfile: ${line.trim()}`);
}
