/**
 * Options, arguments, examples and output that commands share.
 *
 * @module
 */
import { type Command, CommanderError, InvalidArgumentError } from "commander";
import { APP_FILE, DATABASE_FILE } from "../project/project.ts";
import type { Change } from "../system/file_plan.ts";
import { ask, isInteractive, paint, print } from "../terminal/terminal.ts";
import { printable } from "../terminal/printable.ts";

/** Adds the option of the file of the application. */
export function addAppOption(command: Command): Command {
  return command.option("--app <file>", "the file that exports AppModule and setUp", APP_FILE);
}

/** Adds the option of the file of the database. */
export function addDatabaseOption(command: Command): Command {
  return command.option(
    "--database <file>",
    "the file that exports databaseOptions",
    DATABASE_FILE,
  );
}

/** Adds examples to the end of a command's help. */
export function addExamples(command: Command, ...examples: readonly string[]): Command {
  const title = examples.length === 1 ? "Example" : "Examples";
  return command.addHelpText(
    "after",
    `\n${title}:\n${examples.map((line) => `  ${line}`).join("\n")}`,
  );
}

/**
 * Returns an argument; on a terminal, prompts for a missing one.
 *
 * @throws {CommanderError} if it is missing, and there is no terminal
 */
export async function argumentOr(given: string | undefined, question: string): Promise<string> {
  if (given !== undefined) return given;
  if (isInteractive()) return await ask(question);
  const message = "error: missing required argument 'name'";
  throw new CommanderError(2, "commander.missingArgument", message);
}

const STYLES = { create: "green", overwrite: "red", update: "cyan" } as const;

/** Prints the written files and the notes. */
export function printChanges(
  changes: readonly Pick<Change, "verb" | "path">[],
  notes: readonly string[] = [],
): void {
  for (const { verb, path } of changes) {
    print(`${paint(STYLES[verb], verb)} ${printable(path)}`);
  }
  for (const note of notes) print(`${paint("yellow", "note")} ${printable(note)}`);
}

/** Returns a parser of an option that is a whole number. */
export function wholeNumber(
  { least = 0, most }: { readonly least?: number; readonly most: number },
): (text: string) => number {
  return (text) => {
    const number = /^(?:0|[1-9]\d{0,14})$/.test(text) ? Number(text) : NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It is not a whole number from ${least} to ${most}.`);
  };
}

/** Collects the values of an option that can be repeated. */
export function collect(text: string, others: readonly string[]): readonly string[] {
  return [...others, text];
}
