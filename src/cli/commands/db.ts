/**
 * `fw db`: the migrations of a project's database.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { MIGRATION } from "../generate/kinds/model.ts";
import { type Project, requireProject } from "../project/project.ts";
import {
  type DatabaseOption,
  type ListedMigration,
  migrate,
  migrationsOf,
  rollBack,
} from "../project/migrations.ts";
import { paint, print, table, withProgress } from "../terminal/terminal.ts";
import { agree, requirePrompt } from "./confirm.ts";
import { addDiffCommand } from "./db_diff.ts";
import { addPullCommand } from "./db_pull.ts";
import { addSeedCommand } from "./db_seed.ts";
import { addKindCommand } from "./generate.ts";
import { addDatabaseOption, addExamples, wholeNumber } from "./options.ts";

/** Adds `fw db`. */
export function addDbCommand(program: Command): void {
  const command = program.command("db")
    .summary("manage the migrations of the database")
    .description("Manages the migrations of the database at DATABASE_URL.");
  addExamples(command, "fw db status", "fw db diff add-age-to-cats");
  const status = command.command("status")
    .description("Lists the migrations, and when they were run.")
    .action(printStatus);
  addExamples(addDatabaseOption(status), "fw db status");
  const run = command.command("migrate")
    .description("Runs the pending migrations, in their order.")
    .action(runDue);
  addExamples(addDatabaseOption(run), "fw db migrate");
  const undo = command.command("rollback")
    .description("Rolls back the last migrations.")
    .option("--steps <number>", "how many", wholeNumber({ least: 1, most: 999_999 }), 1)
    .option("--yes", "without a prompt, and also if FW_ENV is production")
    .action(undoLast);
  addExamples(addDatabaseOption(undo), "fw db rollback --steps 2");
  addDiffCommand(command);
  addPullCommand(command);
  addKindCommand(command, MIGRATION, { name: "new" });
  addSeedCommand(command);
}

async function printStatus(options: DatabaseOption): Promise<void> {
  const project = requireProject(process.cwd());
  const migrations = await withProgress(
    "Connecting to the database",
    () => migrationsOf(project, options),
  );
  if (migrations.length === 0) return print("There are no migrations.");
  const rows = migrations.map((migration) => [migration.name, stateOf(migration)]);
  print(table(rows, { heading: ["MIGRATION", "RUN AT"] }));
}

async function runDue(options: DatabaseOption): Promise<void> {
  const project = requireProject(process.cwd());
  const names = await withProgress("Running migrations", () => migrate(project, options));
  if (names.length === 0) return print("No migration is pending.");
  for (const name of names) print(`${paint("green", "ran")} ${name}`);
}

interface RollbackOptions extends DatabaseOption {
  readonly steps: number;
  readonly yes?: boolean;
}

async function undoLast({ yes = false, ...options }: RollbackOptions): Promise<void> {
  const project = requireProject(process.cwd());
  const action = "roll back";
  const database = yes ? undefined : await requirePrompt(project, { ...options, action });
  const names = await withProgress("Reading migrations", () => lastOf(project, options));
  if (names.length === 0) return print("No migration was run.");
  if (database !== undefined) {
    await agree(action, `Roll back ${names.join(", ")} of ${database}? Data can be lost.`);
  }
  // chosen by now: one that is interrupted may go on, and end while the next one waits for it
  const undone = await withProgress(
    "Rolling back migrations",
    () => rollBack(project, { ...options, names }),
  );
  for (const name of undone) print(`${paint("yellow", "rolled back")} ${name}`);
}

/** Returns the names of the last migrations that have run, newest first. */
async function lastOf(
  project: Project,
  { steps, ...options }: DatabaseOption & { readonly steps: number },
): Promise<readonly string[]> {
  const executed = (await migrationsOf(project, options)).filter(({ executedAt }) => executedAt);
  return executed.slice(-steps).map(({ name }) => name).toReversed();
}

function stateOf({ executedAt, isMissing, isEdited }: ListedMigration): string {
  if (isMissing) return paint("red", `${executedAt}, its file is missing`);
  if (isEdited) return paint("yellow", `${executedAt}, edited since`);
  return executedAt === undefined ? paint("yellow", "pending") : paint("dim", executedAt);
}
