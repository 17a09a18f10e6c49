/**
 * `fw db seed`: the rows that the code of a project needs.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { nameOfUrl } from "../project/database.ts";
import type { DatabaseOption } from "../project/migrations.ts";
import { requireProject } from "../project/project.ts";
import { runSeeds } from "../project/seeds.ts";
import { readVariables } from "../project/variables.ts";
import { CliError } from "../terminal/cli_error.ts";
import { paint, print, withProgress } from "../terminal/terminal.ts";
import { addDatabaseOption, addExamples } from "./options.ts";

interface SeedOptions extends DatabaseOption {
  readonly yes?: boolean;
}

/** Adds `fw db seed`. */
export function addSeedCommand(parent: Command): void {
  const command = parent.command("seed")
    .description("Runs seeds/*.ts in one transaction, after pending migrations.")
    .option("--yes", "also if FW_ENV is production")
    .action(seed);
  addExamples(addDatabaseOption(command), "fw db seed");
}

async function seed({ yes = false, ...options }: SeedOptions): Promise<void> {
  const project = requireProject(process.cwd());
  const { FW_ENV, DATABASE_URL = "" } = readVariables(project);
  if (FW_ENV === "production" && !yes) {
    const database = nameOfUrl(DATABASE_URL) ?? `the database of ${options.database}`;
    throw new CliError(`Cannot seed ${database}: FW_ENV is production; --yes does so anyway`);
  }
  const names = await withProgress("Seeding", () => runSeeds(project, options));
  for (const name of names) print(`${paint("green", "ran")} ${name}`);
}
