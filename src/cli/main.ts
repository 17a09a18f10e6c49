/**
 * The program: its commands and exit codes.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import process from "node:process";
import { addDbCommand } from "./commands/db.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addGenerateCommand } from "./commands/generate.ts";
import { addInfoCommand } from "./commands/info.ts";
import { addJobsCommand } from "./commands/jobs.ts";
import { addNewCommand } from "./commands/new.ts";
import { addProveCommand } from "./commands/prove.ts";
import { addWorkCommand } from "./commands/work.ts";
import { addOpenApiCommand, addRoutesCommand } from "./commands/application.ts";
import { addExamples } from "./commands/options.ts";
import { VERSION } from "./project/framework.ts";
import { Interruption, lineOf, ProgramExit } from "./terminal/cli_error.ts";
import { hasColours, paint, paintError, printError } from "./terminal/terminal.ts";

/**
 * Runs the command line with its arguments, without the program's name, and returns the exit code:
 * 0 on success, 1 on failure, 2 for an invalid command, 128 and more after a signal. Errors are one
 * line on stderr.
 */
export async function main(args: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // help, version
    if (error instanceof Interruption || error instanceof ProgramExit) return error.exitCode;
    printError(`${paintError("red", "error:")} ${messageOf(error, args)}`);
    return error instanceof CommanderError ? 2 : 1;
  }
}

/** Creates the program, which throws instead of ending the process. */
export function createProgram(): Command {
  const program = new Command("fw")
    .description("Creates and maintains projects of the web framework fw.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show the help of a command")
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeErr: () => {}, // main prints the error
      getOutHasColors: () => hasColours(process.stdout),
      getErrHasColors: () => hasColours(process.stderr),
    })
    .configureHelp({
      styleTitle: (title) => paint("bold", title),
      styleCommandText: (text) => paint("cyan", text),
      styleSubcommandText: (text) => paint("cyan", text),
      styleOptionText: (text) => paint("cyan", text),
      subcommandTerm: (command) => [command.name(), ...command.aliases()].join(", "),
    });
  addExamples(
    program,
    "fw new shop --db sqlite        create a project in the folder shop",
    "fw generate resource product   in it: add a whole CRUD, with its tests",
    "fw routes                      list the routes and their protection",
  );
  addNewCommand(program);
  addGenerateCommand(program);
  addRoutesCommand(program);
  addOpenApiCommand(program);
  addDbCommand(program);
  addJobsCommand(program);
  addWorkCommand(program);
  addProveCommand(program);
  addDoctorCommand(program);
  addInfoCommand(program);
  return program;
}

/**
 * Ends the process when its output cannot be written: silently if it is closed, as by
 * `fw routes | head -1`, else with a line on stderr.
 */
export function endWithReaders(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (isEndOfReader(error)) process.exit(0);
    printError(`${paintError("red", "error:")} Cannot write the output: ${lineOf(error)}`);
    process.exit(1);
  });
  process.stderr.on(
    "error",
    (error: NodeJS.ErrnoException) => process.exit(isEndOfReader(error) ? 0 : 1),
  );
  process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
    if (isEndOfReader(error)) process.exit(0);
    throw error;
  });
}

function messageOf(error: unknown, [first, second]: readonly string[]): string {
  if (!(error instanceof CommanderError)) return lineOf(error);
  if (error.code === "commander.help") {
    return first === "help"
      ? `unknown command '${second}'`
      : "the command is incomplete: see --help";
  }
  const isKind = first === "generate" || first === "g";
  const message = isKind ? error.message.replace("unknown command", "unknown kind") : error.message;
  return message.replace(/^error: /, "").replace(/\n\(Did (.*)\)/s, " (did $1)");
}

function isEndOfReader({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE";
}
