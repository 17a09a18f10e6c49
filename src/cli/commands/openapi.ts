/**
 * `fw openapi`: the OpenAPI document, without a server.
 *
 * @module
 */
import type { Command } from "commander";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { CliError, lineOf } from "../terminal/cli_error.ts";
import { requireProject } from "../project/project.ts";
import { type ApplicationOptions, documentOf } from "../project/application.ts";
import { paint, print, withProgress } from "../terminal/terminal.ts";
import { addAppOption, addExamples } from "./options.ts";

/** Adds `fw openapi`. */
export function addOpenApiCommand(program: Command): void {
  const command = program.command("openapi")
    .summary("write the OpenAPI document")
    .description("Writes the OpenAPI 3.1 document of the routes: to stdout, or to a file.")
    .option("--out <file>", "the file: YAML if its name ends in .yaml or .yml, else JSON")
    .action(writeDocument);
  addAppOption(command);
  addExamples(command, "fw openapi --out openapi.yaml");
}

async function writeDocument(
  { out, ...options }: ApplicationOptions & { out?: string },
): Promise<void> {
  const project = requireProject(process.cwd());
  const isYaml = /\.ya?ml$/i.test(out ?? "");
  const text = await withProgress(
    "Describing the routes",
    () => documentOf(project, { ...options, isYaml }),
  );
  if (out === undefined) return print(text.trimEnd());
  try {
    mkdirSync(dirname(resolve(out)), { recursive: true });
    writeFileSync(out, text);
  } catch (cause) {
    throw new CliError(`Cannot write ${out}: ${lineOf(cause)}`, { cause });
  }
  print(`${paint("green", "wrote")} ${out}`);
}
