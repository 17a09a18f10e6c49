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
import { JOB } from "../generate/kinds/job.ts";
import { MIGRATION, MODEL } from "../generate/kinds/model.ts";
import { FIELD } from "../generate/kinds/field.ts";
import { CRUD, RESOURCE } from "../generate/kinds/resource.ts";
import { readTarget, type TargetOptions } from "../generate/target.ts";
import { FIELD_KINDS } from "../generate/fields/field_spec.ts";
import { PAYLOAD_KINDS } from "../generate/fields/payload_code.ts";
import { DATABASE_FILE, requireProject } from "../project/project.ts";
import { FilePlan } from "../system/file_plan.ts";
import { format } from "../system/programs.ts";
import { CliError } from "../terminal/cli_error.ts";
import { ask, isInteractive, withProgress } from "../terminal/terminal.ts";
import { writeDiff } from "./db_diff.ts";
import { addExamples, argumentOr, printChanges, wholeNumber } from "./options.ts";

interface GenerateOptions extends TargetOptions {
  readonly tenant?: string;
  readonly retries?: number;
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
  const { hasFields = false, hasTenant = false, hasPayload = false } = kind;
  const command = parent.command(name)
    .aliases([...aliases])
    .argument("[name]", "the name, in any case")
    .summary(about)
    .description(`Generates ${about}.`);
  if (hasFields) {
    command
      .argument("[fields...]", "its fields, such as title:text:2..80; prompts for them by default")
      .addHelpText("after", FIELDS_HELP);
  }
  if (hasPayload) {
    command
      .argument("[fields...]", "the fields of its payload, such as orderId:integer")
      .option(
        "--retries <number>",
        "how many further runs follow failed ones",
        wholeNumber({ most: 999_999_999 }),
      )
      .addHelpText("after", PAYLOAD_HELP);
  }
  if (hasTenant) {
    command.option("--tenant <column>", "each row belongs to a tenant, that of the caller's token");
  }
  if (hasFolder) {
    command
      .option("--path <folder>", "the folder to generate in; default src")
      .option("--flat", "without a folder of its name");
  }
  command
    .option("--dry-run", "list what would be written, and write nothing")
    .option("--force", "overwrite files that exist")
    .action((given: string | undefined, ...others: readonly unknown[]) => {
      // commander passes the arguments, then the options and the command
      const options = command.opts<GenerateOptions>();
      const fields = hasFields || hasPayload ? others[0] as readonly string[] : [];
      return generate(kind, { given, fields, options });
    });
  addExamples(command, `fw ${parent.name()} ${name} ${example}`);
}

/** What was given on the command line. */
interface GivenArguments {
  readonly given: string | undefined;
  readonly fields: readonly string[];
  readonly options: GenerateOptions;
}

async function generate(
  kind: Kind,
  { given, fields: texts, options: { dryRun = false, force = false, tenant, retries, ...where } }:
    GivenArguments,
): Promise<void> {
  const project = requireProject(process.cwd());
  const name = await argumentOr(given, `What is the name of the ${kind.name}?`);
  const target = readTarget(name, { root: project.root, kind: kind.name, ...where });
  const fields = texts.length === 0 ? await fieldsOf(kind) : texts;
  const plan = new FilePlan(project.root);
  const generation = { plan, project, target, fields, tenant, retries };
  await withProgress(`Generating ${target.name.kebab}`, async () => {
    await kind.generate(generation);
    await plan.formatNew((file) => format(file, project.root));
  });
  plan.check({ force });
  const changes = plan.changes();
  if (!dryRun) plan.apply(changes);
  printChanges(changes, plan.notes());
  const migration = kind.migration?.(generation);
  if (migration === undefined || dryRun) return;
  try {
    await writeDiff(migration, { database: DATABASE_FILE, rename: [], fill: [] });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(
      `${error.message}; the code is written, and fw db diff ${migration} writes its migration`,
      { cause: error },
    );
  }
}

/** Returns the fields of a kind that was given none; on a terminal, prompts for them. */
async function fieldsOf({ defaultField }: Kind): Promise<readonly string[]> {
  if (defaultField === undefined) return [];
  const answer = isInteractive()
    ? await ask(`What are its fields? Return for ${defaultField}:`)
    : "";
  const fields = answer.split(" ").filter(Boolean);
  return fields.length > 0 ? fields : [defaultField];
}

const FIELDS_HELP = `
A field is name:kind, with options after further colons, ? if it may be null,
and =default:
  title:text:2..80  email:text:email:unique  views:integer=0  body:text?
  status:enum:draft,published=draft  author:references:user  at:timestamp=now
The kinds are ${FIELD_KINDS.slice(0, 7).join(", ")},
${FIELD_KINDS.slice(7).join(", ")} and references.`;

const PAYLOAD_HELP = `
A field is name:kind, with options after further colons, ? if it may be null or
missing, and =default:
  orderId:integer  email:text:email?  note:text:..200  copies:integer:1..=1
The kinds are ${PAYLOAD_KINDS.slice(0, 5).join(", ")},
${PAYLOAD_KINDS.slice(5, -1).join(", ")} and ${PAYLOAD_KINDS.at(-1)}.`;

/** All kinds, in the order of the help. */
export const KINDS: readonly Kind[] = [
  RESOURCE,
  CRUD,
  FIELD,
  MODULE,
  CONTROLLER,
  SERVICE,
  GUARD,
  INTERCEPTOR,
  FILTER,
  PIPE,
  DTO,
  MODEL,
  JOB,
  MIGRATION,
];
