/**
 * The application of a project, as commands look at it: without running anything of it.
 *
 * @module
 */
import { type Command, Option } from "commander";
import process from "node:process";
import { CliError } from "../cli_error.ts";
import { APP_FILE, findProject, hasFile, type Project } from "../project.ts";
import { runInProject } from "../project_script.ts";
import { withProgress } from "../terminal.ts";

/** The option that says where the application is. */
export interface AppOption {
  /** The file, from the project's folder. */
  readonly app: string;
}

/** Adds the option `--app` to a command. */
export function withAppOption(command: Command): Command {
  const about = "the file that exports AppModule and setUp";
  return command.addOption(new Option("--app <file>", about).default(APP_FILE));
}

/**
 * Runs code that has the project's `app`, a preview: no provider is built, no database is opened.
 *
 * @throws {CliError} if there is no such file, or it cannot be loaded
 */
export async function inspect(
  { app: file }: AppOption,
  body: string,
  project: Project = findProject(process.cwd()),
): Promise<unknown> {
  if (!hasFile(project, file)) {
    throw new CliError(`Cannot load ${file}: it does not exist; --app names another file`);
  }
  const load = `
const { FwFactory } = await import("@fw/fw");
const { AppModule, setUp } = await import(${JSON.stringify(`./${file}`)});
if (AppModule === undefined) throw new TypeError("Cannot load ${file}: it exports no AppModule");
const app = await FwFactory.create(await AppModule, { preview: true });
await setUp?.(app);`;
  return await withProgress(`Loading ${file}`, () => runInProject(project, load + body));
}
