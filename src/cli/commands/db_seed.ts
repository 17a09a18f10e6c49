/**
 * `fw db seed`: the rows that the code of a project needs.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import type { DatabaseOption } from "../project/migrations.ts";
import { requireProject } from "../project/project.ts";
import { runSeeds } from "../project/seeds.ts";
import { paint, print, withProgress } from "../terminal/terminal.ts";
import { refuseProduction } from "./confirm.ts";
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
  if (!yes) await refuseProduction(project, { ...options, action: "seed" });
  const names = await withProgress("Seeding", () => runSeeds(project, options));
  for (const name of names) print(`${paint("green", "ran")} ${name}`);
}
