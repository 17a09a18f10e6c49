/**
 * `fw doctor`: what is wrong with a project, and what may be.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { CliError } from "../cli_error.ts";
import { checkApplication, checkDatabase } from "../doctor/application.ts";
import type { Finding } from "../doctor/finding.ts";
import { checkProduction } from "../doctor/production.ts";
import { checkFramework, checkPermissions, checkRuntime } from "../doctor/runtime.ts";
import { checkSecrets, checkVariables, variablesOf } from "../doctor/variables.ts";
import { findProject } from "../project.ts";
import { paint, print, type Style } from "../terminal.ts";
import { type AppOption, withAppOption } from "./app_option.ts";

/** Adds `fw doctor`. */
export function doctorCommand(program: Command): void {
  withAppOption(program.command("doctor"))
    .summary("look for what is wrong with a project")
    .description(
      "Looks at the runtime, permissions, environment, application, database and migrations of a " +
        "project. It ends with exit code 1 if there is a problem; warnings may be meant.",
    )
    .option("--production", "also look for what is not safe in production")
    .addHelpText(
      "after",
      `
Example:
  FW_ENV=production fw doctor --production`,
    )
    .action(examine);
}

async function examine(
  { production, ...options }: AppOption & { production?: boolean },
): Promise<void> {
  const project = findProject(process.cwd());
  const variables = variablesOf(project);
  const findings = [
    await checkRuntime(project),
    checkFramework(project),
    checkPermissions(project),
    checkVariables(project, variables),
    await checkSecrets(project),
    ...await checkApplication(options),
    ...await checkDatabase(project),
    ...production || variables["FW_ENV"] === "production"
      ? checkProduction(project, variables)
      : [],
  ];
  for (const { level, subject, text } of findings) {
    print(`${paint(STYLES[level], level.padEnd(7))}  ${subject.padEnd(11)}  ${text}`);
  }
  const problems = findings.filter(({ level }) => level === "problem").length;
  if (problems > 0) throw new CliError(`Found ${problems} problem${problems === 1 ? "" : "s"}`);
}

const STYLES: Readonly<Record<Finding["level"], Style>> = {
  ok: "green",
  warning: "yellow",
  problem: "red",
  skipped: "dim",
};
