/**
 * `fw new`: a project, from nothing to one that runs.
 *
 * @module
 */
import { type Command, Option } from "commander";
import process from "node:process";
import { CliError } from "../cli_error.ts";
import { formatAll } from "../deno.ts";
import { EntityName } from "../entity_name.ts";
import { FilePlan } from "../file_plan.ts";
import { checkoutRoot } from "../framework.ts";
import { commitAll } from "../git.ts";
import { checkAbsent, makeFolder } from "../new_folder.ts";
import { DATABASES, type NewProject } from "../templates/new_project.ts";
import { projectFiles } from "../templates/project_files.ts";
import { ask, isInteractive, paint, print, withProgress } from "../terminal.ts";

interface NewOptions {
  readonly strict?: boolean;
  readonly git: boolean;
  readonly db?: NewProject["database"];
  readonly oauth2?: boolean;
  readonly dryRun?: boolean;
}

/** Adds `fw new`. */
export function newCommand(program: Command): void {
  program.command("new")
    .argument("[name]", "the name of the project and of its folder")
    .summary("make a project")
    .description("Makes a project: an application that runs, with a test, ready for a container.")
    .addOption(new Option("--db <database>", "with a database").choices(DATABASES))
    .option("--oauth2", "with access tokens of an identity provider")
    .option("--strict", "with a strict compiler and linter")
    .option("--no-git", "without a git repository")
    .option("--dry-run", "list the files, write none")
    .addHelpText(
      "after",
      `
Example:
  fw new shop --db sqlite --strict && cd shop && deno task dev`,
    )
    .action(newProject);
}

async function newProject(given: string | undefined, options: NewOptions): Promise<void> {
  const name = await nameOf(given);
  const files = projectFiles({
    name,
    title: EntityName.parse(name).title,
    strict: options.strict ?? false,
    database: options.db,
    oauth2: options.oauth2 ?? false,
    checkout: checkoutRoot(),
  });
  if (options.dryRun) {
    checkAbsent(process.cwd(), name);
    for (const path of Object.keys(files)) print(`${paint("green", "create")} ${name}/${path}`);
    return;
  }
  let history = "";
  await makeFolder(process.cwd(), name, (folder) =>
    withProgress(`Making ${name}`, async () => {
      const plan = new FilePlan(folder);
      for (const [path, text] of Object.entries(files)) plan.create(path, text);
      plan.apply();
      await formatAll(folder);
      if (options.git) history = `, ${await commitAll(folder, process.cwd())}`;
    }));
  print(`${paint("green", "Made")} ${paint("bold", name)}${history}.\n`);
  for (const command of nextCommands(name, options)) print(`  ${command}`);
  print("\nand for the next piece of code: deno task fw generate resource cat");
}

/** Lists what leads from the new project to its first response. */
function nextCommands(name: string, { db, oauth2 }: NewOptions): readonly string[] {
  const commands = [
    `cd ${name}`,
    db && db !== "sqlite" && "docker compose up -d",
    oauth2 && "deno task idp &",
    "deno task dev",
    "curl http://localhost:3000/api/",
  ];
  return commands.filter((command) => typeof command === "string");
}

async function nameOf(given: string | undefined): Promise<string> {
  if (given === undefined && !isInteractive()) {
    throw new CliError("missing required argument 'name'", { exitCode: 2 });
  }
  const name = given ?? await ask("What is the name of the project?");
  if (/[\s]/.test(name)) {
    throw new CliError(`Cannot use the name ${JSON.stringify(name)}: it has a space in it`);
  }
  EntityName.parse(name);
  return name;
}
