/**
 * `fw generate`: new code of a project.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import type { Kind } from "../generate/kind.ts";
import { CONTROLLER, FILTER, GUARD, INTERCEPTOR } from "../generate/kinds/route_kinds.ts";
import { DTO, MODULE, PIPE, SERVICE } from "../generate/kinds/plain_kinds.ts";
import { MIGRATION, MODEL } from "../generate/kinds/model.ts";
import { RESOURCE } from "../generate/kinds/resource.ts";
import { readTarget, type TargetOptions } from "../generate/target.ts";
import { requireProject } from "../project/project.ts";
import { FilePlan } from "../system/file_plan.ts";
import { format } from "../system/programs.ts";
import { withProgress } from "../terminal/terminal.ts";
import { addExamples, argumentOr, printChanges } from "./options.ts";

interface GenerateOptions extends TargetOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** Adds `fw generate`, with a command for each kind. */
export function addGenerateCommand(program: Command): void {
  const command = program.command("generate")
    .alias("g")
    .summary("generate code in a project")
    .description("Generates code with its test, and lists it in the nearest module.")
    .usage("<kind> <name> [options]");
  addExamples(
    command,
    "fw generate resource product",
    "fw g s mail --dry-run",
    "fw g co admin/invoices",
  );
  for (const kind of KINDS) addKindCommand(command, kind);
}

/** Adds a command that generates one kind, with its name by default. */
export function addKindCommand(
  parent: Command,
  kind: Kind,
  { name = kind.name }: { readonly name?: string } = {},
): void {
  const { aliases, about, example, hasFolder = true } = kind;
  const command = parent.command(name)
    .aliases([...aliases])
    .argument("[name]", "the name, in any case")
    .summary(about)
    .description(`Generates ${about}.`);
  if (hasFolder) {
    command
      .option("--path <folder>", "the folder to generate in; default src")
      .option("--flat", "without a folder of its name");
  }
  command
    .option("--dry-run", "list what would be written, and write nothing")
    .option("--force", "overwrite files that exist")
    .action((given: string | undefined, options: GenerateOptions) =>
      generate(kind, given, options)
    );
  addExamples(command, `fw ${parent.name()} ${name} ${example}`);
}

async function generate(
  kind: Kind,
  given: string | undefined,
  { dryRun = false, force = false, ...where }: GenerateOptions,
): Promise<void> {
  const project = requireProject(process.cwd());
  const name = await argumentOr(given, `What is the name of the ${kind.name}?`);
  const target = readTarget(name, { root: project.root, kind: kind.name, ...where });
  const plan = new FilePlan(project.root);
  await withProgress(`Generating ${target.name.kebab}`, async () => {
    await kind.generate({ plan, project, target });
    await plan.formatNew((file) => format(file, project.root));
  });
  plan.check({ force });
  const changes = plan.changes();
  if (!dryRun) plan.apply(changes);
  printChanges(changes, plan.notes());
}

/** All kinds, in the order of the help. */
export const KINDS: readonly Kind[] = [
  RESOURCE,
  MODULE,
  CONTROLLER,
  SERVICE,
  GUARD,
  INTERCEPTOR,
  FILTER,
  PIPE,
  DTO,
  MODEL,
  MIGRATION,
];
