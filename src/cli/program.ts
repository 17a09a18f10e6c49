/**
 * All commands of the command line.
 *
 * @module
 */
import { Command } from "commander";
import { dbCommand } from "./commands/db.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { generateCommand } from "./commands/generate.ts";
import { infoCommand } from "./commands/info.ts";
import { newCommand } from "./commands/new.ts";
import { openApiCommand } from "./commands/openapi.ts";
import { routesCommand } from "./commands/routes.ts";
import { VERSION } from "./framework.ts";
import { hasColours, paint } from "./terminal.ts";
import process from "node:process";

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
    })
    .addHelpText(
      "after",
      `
Examples:
  fw new shop --db sqlite        a project in the folder shop
  fw generate resource product   in it: a whole CRUD, with its tests
  fw routes                      which routes there are, and how they are protected`,
    );
  newCommand(program);
  generateCommand(program);
  routesCommand(program);
  openApiCommand(program);
  dbCommand(program);
  doctorCommand(program);
  infoCommand(program);
  return program;
}
