/**
 * `fw db`: the migrations of a project's database.
 *
 * @module
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import process from "node:process";
import { CliError } from "../cli_error.ts";
import { KINDS } from "../generate/kinds.ts";
import { DATABASE_FILE, findProject, hasFile, type Project } from "../project.ts";
import { runInProject } from "../project_script.ts";
import { table } from "../table.ts";
import { paint, print, withProgress } from "../terminal.ts";
import { addKind } from "./generate.ts";

interface DatabaseOption {
  /** The file that exports `databaseOptions`. */
  readonly database: string;
}

/** A migration, as `DbMigrations.status()` tells of it, in JSON. */
export interface ListedMigration {
  readonly name: string;
  readonly executedAt?: string;
  readonly isMissing?: boolean;
}

/** Adds `fw db`. */
export function dbCommand(program: Command): void {
  const command = program.command("db")
    .summary("look after the migrations of the database")
    .description("Looks after the migrations of the database that DATABASE_URL names.")
    .addHelpText(
      "after",
      `
Examples:
  fw db status
  fw db new add-age-to-cats && fw db migrate`,
    );
  withDatabaseOption(command.command("status"))
    .description("Lists the migrations, and when they have run.")
    .addHelpText("after", example("fw db status"))
    .action(status);
  withDatabaseOption(command.command("migrate"))
    .description("Runs the migrations that are due, in their order.")
    .addHelpText("after", example("fw db migrate"))
    .action(migrate);
  withDatabaseOption(command.command("rollback"))
    .description("Undoes the migrations that were the last to run.")
    .option("--steps <number>", "how many of them", wholeNumber, 1)
    .addHelpText("after", example("fw db rollback --steps 2"))
    .action(rollBack);
  const migration = KINDS.find(({ name }) => name === "migration");
  if (migration) addKind(command, migration, "new");
}

/** Gives the migrations of a project's database. */
export async function migrationsOf(
  project: Project,
  options: DatabaseOption = { database: DATABASE_FILE },
): Promise<readonly ListedMigration[]> {
  // What status() gives is of this shape as JSON.
  return await run(project, options, "migrations.status()") as readonly ListedMigration[];
}

async function status(options: DatabaseOption): Promise<void> {
  const migrations = await migrationsOf(findProject(process.cwd()), options);
  if (migrations.length === 0) return print("There are no migrations.");
  print(
    table(
      ["MIGRATION", "RUN AT"],
      migrations.map((migration) => [migration.name, stateOf(migration)]),
    ),
  );
}

async function migrate(options: DatabaseOption): Promise<void> {
  const names = await run(findProject(process.cwd()), options, "migrations.migrate()") as string[];
  if (names.length === 0) return print("Nothing is due.");
  for (const name of names) print(`${paint("green", "ran")} ${name}`);
}

async function rollBack({ steps, ...options }: DatabaseOption & { steps: number }): Promise<void> {
  const call = `migrations.rollBack({ steps: ${steps} })`;
  const names = await run(findProject(process.cwd()), options, call) as string[];
  if (names.length === 0) return print("Nothing has run.");
  for (const name of names) print(`${paint("yellow", "undid")} ${name}`);
}

function run(project: Project, { database }: DatabaseOption, call: string): Promise<unknown> {
  if (!hasFile(project, database)) {
    throw new CliError(
      `Cannot load ${database}: it does not exist; --database names another, fw generate model makes one`,
    );
  }
  return withProgress("Asking the database", () =>
    runInProject(
      project,
      `
const { DbMigrations } = await import("@fw/fw/db");
const { databaseOptions } = await import(${JSON.stringify(`./${database}`)});
if (databaseOptions === undefined) {
  throw new TypeError("Cannot load ${database}: it exports no databaseOptions");
}
await using migrations = await DbMigrations.open(await databaseOptions());
return await ${call};`,
    ));
}

function withDatabaseOption(command: Command): Command {
  const about = "the file that exports databaseOptions";
  return command.addOption(new Option("--database <file>", about).default(DATABASE_FILE));
}

function stateOf({ executedAt, isMissing }: ListedMigration): string {
  if (isMissing) return paint("red", `${executedAt}, and its file is gone`);
  return executedAt === undefined ? paint("yellow", "due") : paint("dim", executedAt);
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It is not a whole number of 1 or more.");
}

function example(command: string): string {
  return `\nExample:\n  ${command}`;
}
