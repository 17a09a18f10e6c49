/**
 * `fw new`: a new project.
 *
 * @module
 */
import { type Command, Option } from "commander";
import process from "node:process";
import { applicationFiles } from "../new_project/application.ts";
import { databaseFiles } from "../new_project/database_files.ts";
import { denoConfig, GITIGNORE } from "../new_project/deno_config.ts";
import { dockerFiles } from "../new_project/docker.ts";
import { checkAbsent, commitAll, makeFolder } from "../new_project/new_folder.ts";
import type { Files, NewProject } from "../new_project/new_project.ts";
import { readme } from "../new_project/readme.ts";
import { tokenFiles } from "../new_project/tokens.ts";
import { environmentFiles } from "../new_project/variables.ts";
import { type Database, databaseName, DATABASES } from "../project/database.ts";
import { EntityName } from "../project/entity_name.ts";
import { checkoutRoot } from "../project/framework.ts";
import { FilePlan } from "../system/file_plan.ts";
import { formatAll } from "../system/programs.ts";
import { CliError } from "../terminal/cli_error.ts";
import { paint, print, withProgress } from "../terminal/terminal.ts";
import { addExamples, argumentOr, printChanges } from "./options.ts";

interface NewOptions {
  readonly strict?: boolean;
  readonly git: boolean;
  readonly db?: Database;
  readonly oauth2?: boolean;
  readonly authn?: boolean;
  readonly dryRun?: boolean;
}

/** Adds `fw new`. */
export function addNewCommand(program: Command): void {
  const command = program.command("new")
    .argument("[name]", "the name of the project and of its folder")
    .summary("create a project")
    .description("Creates a project: an application with tests, ready for a container.")
    .addOption(new Option("--db <database>", "with a database").choices(DATABASES))
    .option("--oauth2", "with access tokens of an identity provider")
    .option("--authn", "with access tokens of the application, and a key that signs them")
    .option("--strict", "with a strict compiler and linter")
    .option("--no-git", "without a git repository")
    .option("--dry-run", "list the files, and write none");
  command.action(makeProject);
  addExamples(command, "fw new shop --db sqlite --strict && cd shop && deno task dev");
}

async function makeProject(given: string | undefined, options: NewOptions): Promise<void> {
  const name = await argumentOr(given, "What is the name of the project?");
  const files = projectFiles({
    name,
    title: readProjectName(name).title,
    strict: options.strict ?? false,
    database: options.db,
    oauth2: options.oauth2 ?? false,
    authn: options.authn ?? false,
    checkout: checkoutRoot(),
  });
  const parent = process.cwd();
  if (options.dryRun) {
    checkAbsent(parent, name);
    const paths = Object.keys(files).map((path) => `${name}/${path}`);
    return printChanges(paths.map((path) => ({ verb: "create", path })));
  }
  let history = "";
  await makeFolder(
    { parent, name },
    (folder, signal) =>
      withProgress(`Creating ${name}`, async () => {
        const plan = new FilePlan(folder);
        plan.createMissing(files);
        plan.apply();
        await formatAll(folder, signal);
        if (options.git) history = `, ${await commitAll({ folder, around: parent, signal })}`;
      }),
  );
  print(`${paint("green", "Created")} ${paint("bold", name)}${history}.\n`);
  for (const command of nextCommands(name, options)) print(`  ${command}`);
  print("\nTo add code: deno task fw generate resource cat");
}

/** Lists the commands from a new project to its first response. */
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

/** The name of a project is also that of its folder. */
function readProjectName(name: string): EntityName {
  if (/\s/.test(name)) {
    throw new CliError(`Cannot use the name ${JSON.stringify(name)}: it contains a space`);
  }
  if (name.toLowerCase() === "node_modules") {
    throw new CliError(`Cannot use the name "${name}": it is the folder of packages`);
  }
  return EntityName.parse(name);
}

/** Returns the files of a new project. */
function projectFiles(project: NewProject): Files {
  return {
    "deno.json": denoConfig(project),
    "README.md": readme(project),
    ...environmentFiles(project),
    ".gitignore": GITIGNORE,
    ...dockerFiles(project),
    ...applicationFiles(project),
    ...project.database ? databaseFiles(project.database, databaseName(project.name)) : {},
    ...tokenFiles(project),
  };
}
