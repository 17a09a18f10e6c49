/**
 * All commands of the command line.
 *
 * @module
 */
import { Command } from "commander";
import process from "node:process";
import { addDbCommand } from "./commands/db.ts";
import { addDoctorCommand } from "./commands/doctor.ts";
import { addGenerateCommand } from "./commands/generate.ts";
import { addInfoCommand } from "./commands/info.ts";
import { addNewCommand } from "./commands/new.ts";
import { addOpenApiCommand } from "./commands/openapi.ts";
import { addExamples } from "./commands/options.ts";
import { addRoutesCommand } from "./commands/routes.ts";
import { VERSION } from "./project/framework.ts";
import { hasColours, paint } from "./terminal/terminal.ts";

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
