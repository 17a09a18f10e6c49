/**
 * `fw doctor`: checks of a project.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { CliError } from "../terminal/cli_error.ts";
import { checkApplication, checkDatabase, checkModels } from "../doctor/application.ts";
import { checkJobs } from "../doctor/jobs.ts";
import { checkProduction } from "../doctor/production.ts";
import type { Finding } from "../doctor/finding.ts";
import {
  checkFramework,
  checkPermissions,
  checkRuntime,
  checkSecrets,
  checkVariables,
} from "../doctor/environment.ts";
import { requireProject, sourcesOf } from "../project/project.ts";
import type { ApplicationOptions } from "../project/application.ts";
import type { DatabaseOption } from "../project/migrations.ts";
import { count, paint, print, type Style, table, withProgress } from "../terminal/terminal.ts";
import { addAppOption, addDatabaseOption, addExamples } from "./options.ts";

interface DoctorOptions extends ApplicationOptions, DatabaseOption {
  readonly production?: boolean;
}

const STYLES: Readonly<Record<Finding["level"], Style>> = {
  ok: "green",
  warning: "yellow",
  problem: "red",
  skipped: "dim",
};

/** Adds `fw doctor`. */
export function addDoctorCommand(program: Command): void {
  const command = program.command("doctor")
    .summary("check a project")
    .description(
      "Checks the runtime, permissions, environment, application, database and migrations of a " +
        "project. The exit code is 1 if there is a problem; warnings can be intended.",
    )
    .option("--production", "also check for what is unsafe in production")
    .action(examine);
  addDatabaseOption(addAppOption(command));
  addExamples(command, "FW_ENV=production fw doctor --production");
}

async function examine({ production = false, ...options }: DoctorOptions): Promise<void> {
  const project = requireProject(process.cwd());
  const variables = await project.variables();
  const isProduction = production || variables["FW_ENV"] === "production";
  const findings = await withProgress("Checking", async () => {
    const database = await checkDatabase(project, { ...options, variables });
    const hasDatabase = database.some(({ level, subject }) =>
      subject === "tables" && level !== "skipped"
    );
    const sources = sourcesOf(project);
    return [
      await checkRuntime(project),
      checkFramework(project),
      checkPermissions(project),
      ...checkVariables(project, variables),
      await checkSecrets(project),
      ...await checkApplication(project, { ...options, isProduction }),
      ...database,
      ...await checkModels(project, { ...options, variables, isProduction }),
      ...await checkJobs(project, { ...options, sources, hasDatabase }),
      ...isProduction ? await checkProduction(project, { ...options, variables, sources }) : [],
    ];
  });
  print(
    table(findings.map(({ level, subject, text }) => [paint(STYLES[level], level), subject, text])),
  );
  const problems = findings.filter(({ level }) => level === "problem").length;
  if (problems > 0) throw new CliError(`Found ${count(problems, "problem")}`);
}
