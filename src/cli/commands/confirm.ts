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

/** What is confirmed. */
export interface Confirmation extends DatabaseOption {
  /** The action, for errors: `roll back`. */
  readonly action: string;
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
  { action, question, database: file }: Confirmation,
): Promise<void> {
  const database = await refuseProduction(project, { action, database: file });
  if (!isInteractive()) {
    throw new CliError(
      `Cannot ${action} ${database}: the prompt needs a terminal; --yes does so without a prompt`,
    );
  }
  const answer = await ask(`${question(database)} (yes/no)`);
  if (!/^y(es)?$/i.test(answer)) throw new CliError(`Cannot ${action}: the answer was not yes`);
}

/**
 * Returns the name of the database of a project.
 *
 * @throws {CliError} if `FW_ENV` is `production`
 */
export async function refuseProduction(
  project: Project,
  { action, database: file }: Omit<Confirmation, "question">,
): Promise<string> {
  const { FW_ENV, DATABASE_URL = "" } = await project.variables();
  const database = nameOfUrl(DATABASE_URL) ?? `the database of ${file}`;
  if (FW_ENV !== "production") return database;
  throw new CliError(`Cannot ${action} ${database}: FW_ENV is production; --yes does so anyway`);
}
