/**
 * Runs a command, and tells how it ended.
 *
 * @module
 */
import { CommanderError } from "commander";
import { lineOf } from "./terminal/cli_error.ts";
import { Interruption } from "./terminal/interruption.ts";
import { createProgram } from "./program.ts";
import { paintError, printError } from "./terminal/terminal.ts";

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
