/**
 * `fw openapi`: the OpenAPI document, without a server.
 *
 * @module
 */
import type { Command } from "commander";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CliError, lineOf } from "../cli_error.ts";
import { paint, print } from "../terminal.ts";
import { type AppOption, inspect, withAppOption } from "./app_option.ts";

/** Adds `fw openapi`. */
export function openApiCommand(program: Command): void {
  withAppOption(program.command("openapi"))
    .summary("write the OpenAPI document")
    .description("Writes the OpenAPI 3.1 document of the routes: to stdout, or to a file.")
    .option("--out <file>", "the file: YAML if its name ends in .yaml or .yml, else JSON")
    .addHelpText(
      "after",
      `
Example:
  fw openapi --out openapi.yaml`,
    )
    .action(writeDocument);
}

async function writeDocument({ out, ...options }: AppOption & { out?: string }): Promise<void> {
  const isYaml = /\.ya?ml$/i.test(out ?? "");
  const text = String(await inspect(options, isYaml ? AS_YAML : AS_JSON));
  if (out === undefined) return print(text.trimEnd());
  try {
    mkdirSync(dirname(resolve(out)), { recursive: true });
    writeFileSync(out, text);
  } catch (cause) {
    throw new CliError(`Cannot write ${out}: ${lineOf(cause)}`, { cause });
  }
  print(`${paint("green", "wrote")} ${out}`);
}

const AS_JSON = `
return JSON.stringify(await app.openApi(), null, 2) + "\\n";`;
const AS_YAML = `
const { toYaml } = await import("@fw/fw/openapi");
return await toYaml(await app.openApi());`;
