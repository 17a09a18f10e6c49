/**
 * The commands, and how a run of the command line ends.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import process from "node:process";
import { addDbCommand } from "./commands/db.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addGenerateCommand } from "./commands/generate.ts";
import { addInfoCommand } from "./commands/info.ts";
import { addNewCommand } from "./commands/new.ts";
import { addOpenApiCommand, addRoutesCommand } from "./commands/application.ts";
import { addExamples } from "./commands/options.ts";
import { VERSION } from "./project/framework.ts";
import { Interruption, lineOf } from "./terminal/cli_error.ts";
import { hasColours, paint, paintError, printError } from "./terminal/terminal.ts";

/**
 * Runs the command line with its arguments, without the program's name, and gives the exit code: 0 when
 * all is well, 1 when it cannot be done, 2 when the command is not understood, 128 and more when a signal
 * has ended it. What is wrong is one line on stderr.
 */
export async function main(args: readonly string[]): Promise<number> {
  const program = createProgram();
  try {
    if (args.length === 0) program.outputHelp();
    else await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // help, version
    if (error instanceof Interruption) return error.exitCode;
    printError(`${paintError("red", "error:")} ${messageOf(error, args)}`);
    return error instanceof CommanderError ? 2 : 1;
  }
}

function messageOf(error: unknown, [first, second]: readonly string[]): string {
  if (!(error instanceof CommanderError)) return lineOf(error);
  if (error.code === "commander.help") {
    return first === "help"
      ? `unknown command '${second}'`
      : "the command is incomplete: --help shows what is missing";
  }
  return error.message.replace(/^error: /, "").replace(/\n\(Did (.*)\)/s, " (did $1)");
}

/** Makes the program, which throws instead of ending the process. */
export function createProgram(): Command {
  const program = new Command("fw")
    .description("Makes projects of the web framework fw, and looks after them.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show the help of a command")
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeErr: () => {}, // what is wrong is printed once, by main
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
    "fw new shop --db sqlite        a project in the folder shop",
    "fw generate resource product   in it: a whole CRUD, with its tests",
    "fw routes                      which routes there are, and how they are protected",
  );
  addNewCommand(program);
  addGenerateCommand(program);
  addRoutesCommand(program);
  addOpenApiCommand(program);
  addDbCommand(program);
  addDoctorCommand(program);
  addInfoCommand(program);
  return program;
}

/** Ends the process, without a word, once nobody reads what it writes. */
export function endWithReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on(
      "error",
      (error: NodeJS.ErrnoException) => process.exit(isEndOfReader(error) ? 0 : 1),
    );
  }
  process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
    if (isEndOfReader(error)) process.exit(0);
    throw error;
  });
}

function isEndOfReader({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE";
}
