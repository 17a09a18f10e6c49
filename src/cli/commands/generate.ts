/**
 * `fw generate`: the next piece of code.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { CliError } from "../cli_error.ts";
import { formatted } from "../deno.ts";
import { FilePlan } from "../file_plan.ts";
import { type Kind, KINDS } from "../generate/kinds.ts";
import { targetOf, type TargetOptions } from "../generate/target.ts";
import { findProject } from "../project.ts";
import { ask, isInteractive, paint, print, withProgress } from "../terminal.ts";

interface GenerateOptions extends TargetOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** Adds `fw generate`, with a command for each kind. */
export function generateCommand(program: Command): void {
  const command = program.command("generate")
    .alias("g")
    .summary("generate code in a project")
    .description("Generates code with its test, and lists it in the module that it belongs to.")
    .usage("<kind> <name> [options]")
    .addHelpText(
      "after",
      `
Examples:
  fw generate resource product
  fw g s mail --dry-run
  fw g co admin/invoices`,
    );
  for (const kind of KINDS) addKind(command, kind);
}

/** Adds a command that generates one kind; below `generate` it is called what the kind is. */
export function addKind(parent: Command, kind: Kind, name: string = kind.name): void {
  const command = parent.command(name)
    .aliases([...kind.aliases])
    .argument("[name]", "its name, in any case")
    .summary(kind.about)
    .description(`Generates ${kind.about}.`);
  if (kind.hasFolder) {
    command
      .option("--path <folder>", "the folder to generate in, as admin/name does below it")
      .option("--flat", "generate no folder for it");
  }
  command
    .option("--dry-run", "list what would be written, write nothing")
    .option("--force", "overwrite files that exist")
    .addHelpText("after", `\nExample:\n  fw ${parent.name()} ${name} ${kind.example}`)
    .action((name: string | undefined, options: GenerateOptions) => generate(kind, name, options));
}

async function generate(
  kind: Kind,
  given: string | undefined,
  { dryRun = false, force = false, ...where }: GenerateOptions,
): Promise<void> {
  if (given === undefined && !isInteractive()) {
    throw new CliError("missing required argument 'name'", { exitCode: 2 });
  }
  const target = targetOf(
    kind.name,
    given ?? await ask(`What is the name of the ${kind.name}?`),
    where,
  );
  const project = findProject(process.cwd());
  const plan = new FilePlan(project.root);
  await withProgress(`Generating ${target.name.kebab}`, async () => {
    await kind.generate({ plan, project, target });
    await plan.transform((path, text) => formatted(path, text, project.root));
  });
  plan.check({ force });
  const changes = plan.changes();
  if (!dryRun) plan.apply();
  for (const { verb, path } of changes) print(`${paint(COLOURS[verb], verb)} ${path}`);
  for (const note of plan.notes()) print(`${paint("yellow", "note")} ${note}`);
}

const COLOURS = { create: "green", overwrite: "red", update: "cyan" } as const;
