/**
 * Prompts before commands that lose data.
 *
 * @module
 */
import { nameOfUrl } from "../project/database.ts";
import type { DatabaseOption } from "../project/migrations.ts";
import type { Project } from "../project/project.ts";
import { CliError } from "../terminal/cli_error.ts";
import { ask, isInteractive } from "../terminal/terminal.ts";

/** What changes a database. */
export interface DatabaseAction extends DatabaseOption {
  /** The action, for errors: `roll back`. */
  readonly action: string;
}

/** What is confirmed. */
export interface Confirmation extends DatabaseAction {
  /** Returns the question about the database of a name. */
  readonly question: (database: string) => string;
}

/**
 * Prompts whether to change the database of a project.
 *
 * @throws {CliError} if the answer is not yes, there is no terminal, or `FW_ENV` is `production`
 */
export async function confirm(
  project: Project,
  { question, ...options }: Confirmation,
): Promise<void> {
  await agree(options.action, question(await requirePrompt(project, options)));
}

/**
 * Returns the name of the database of a project, about which the user can be prompted.
 *
 * @throws {CliError} if there is no terminal, or `FW_ENV` is `production`
 */
export async function requirePrompt(project: Project, options: DatabaseAction): Promise<string> {
  const database = await refuseProduction(project, options);
  if (isInteractive()) return database;
  throw new CliError(
    `Cannot ${options.action} ${database}: the prompt needs a terminal; --yes does so without a ` +
      "prompt",
  );
}

/**
 * Prompts whether to do an action.
 *
 * @throws {CliError} if the answer is not yes
 */
export async function agree(action: string, question: string): Promise<void> {
  const answer = await ask(`${question} (yes/no)`, { atEnd: "no" });
  if (!/^y(es)?$/i.test(answer)) throw new CliError(`Cannot ${action}: the answer was not yes`);
}

/**
 * Returns the name of the database of a project.
 *
 * @throws {CliError} if `FW_ENV` is `production`
 */
export async function refuseProduction(
  project: Project,
  { action, database: file }: DatabaseAction,
): Promise<string> {
  const { FW_ENV, DATABASE_URL = "" } = await project.variables();
  const database = nameOfUrl(DATABASE_URL) ?? `the database of ${file}`;
  if (FW_ENV !== "production") return database;
  throw new CliError(`Cannot ${action} ${database}: FW_ENV is production; --yes does so anyway`);
}
