/**
 * `fw db pull`: models of the tables of an existing database.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { posix } from "node:path";
import { addToDatabase } from "../edit/source_file.ts";
import { editFile } from "../generate/edit_project.ts";
import { SERVICE_MEMBERS, USED_NAMES } from "../generate/kinds/model.ts";
import { specifierOf } from "../generate/target.ts";
import { EntityName } from "../project/entity_name.ts";
import type { DatabaseOption } from "../project/migrations.ts";
import { DATABASE_FILE, type Project, requireProject } from "../project/project.ts";
import { type PulledModel, pulledModels } from "../project/schema_diff.ts";
import { FilePlan } from "../system/file_plan.ts";
import { format } from "../system/programs.ts";
import { CliError, lineOf } from "../terminal/cli_error.ts";
import { withProgress } from "../terminal/terminal.ts";
import { addDatabaseOption, addExamples, collect, printChanges } from "./options.ts";

interface PullOptions extends DatabaseOption {
  readonly out: string;
  readonly schema: readonly string[];
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Adds `fw db pull`. */
export function addPullCommand(parent: Command): void {
  const command = parent.command("pull")
    .summary("write models of an existing database")
    .description(
      "Writes models of the tables of the database at DATABASE_URL, and lists them in Db.",
    )
    .option("--out <file>", "the file of the models", "src/models.ts")
    .option("--schema <name>", "another schema of PostgreSQL (repeatable)", collect, [])
    .option("--dry-run", "list what would be written, and write nothing")
    .option("--force", "overwrite a file that exists")
    .action(pull);
  addDatabaseOption(command);
  addExamples(command, "fw db pull", "fw db pull --schema audit --out src/tables.ts");
}

async function pull({ out, schema, force = false, dryRun = false, ...options }: PullOptions) {
  const project = requireProject(process.cwd());
  const plan = new FilePlan(project.root);
  await withProgress("Reading the tables", async () => {
    const pulled = await pulledModels(project, { ...options, schemas: schema });
    // the name of a column can have lines, which would end a comment
    const models = pulled.models.map((it) => ({ ...it, notes: it.notes.map(lineOf) }));
    await planModels(models, { plan, project, out });
    for (const text of pulled.skipped) plan.note(`not in the models: ${lineOf(text)}`);
    await plan.formatNew((file) => format(file, project.root));
  });
  plan.check({ force });
  const changes = plan.changes();
  if (!dryRun) plan.apply(changes);
  printChanges(changes, plan.notes());
}

/** What models are written to. */
interface PullTarget {
  /** The files to write. */
  readonly plan: FilePlan;
  /** The project. */
  readonly project: Project;
  /** The file of the models. */
  readonly out: string;
}

/** The names of a model in code. */
interface ModelNames {
  /** The exported name: `User`. */
  readonly pascal: string;
  /** The name of the repository: `user`. */
  readonly camel: string;
}

/**
 * Plans the file of the models of a database, and lists them in the project's database.
 *
 * @throws {CliError} if it has no tables with models
 */
async function planModels(
  models: readonly PulledModel[],
  { plan, project, out }: PullTarget,
): Promise<void> {
  if (models.length === 0) {
    throw new CliError("Cannot pull models: the database has no tables that models can have");
  }
  const names = namesOf(models);
  plan.create(
    out,
    `import { field, model, type Row } from "@fw/fw/db";\n\n${
      models.map((model) => codeOf(model, names)).join("\n")
    }`,
  );
  const from = specifierOf(posix.dirname(DATABASE_FILE), out);
  for (const { name } of models) {
    const { pascal, camel } = names.get(name)!;
    const isEdited = await editFile({ plan, project }, {
      path: DATABASE_FILE,
      change: (source) => addToDatabase(source, { name: pascal, accessor: camel, from }),
    });
    if (!isEdited) {
      plan.note(`Add ${camel}: ${pascal} to DbService.with({ … }) in ${DATABASE_FILE}`);
    }
  }
  for (const { name, notes } of models) {
    for (const note of notes) plan.note(`not in the model ${name}: ${note}`);
  }
}

function namesOf(models: readonly PulledModel[]): ReadonlyMap<string, ModelNames> {
  const taken = new Set<string>();
  return new Map(models.map(({ name }) => {
    const bare = name.replace(/^_+/, "");
    const words = EntityName.isName(bare) ? bare : `table_${bare}`;
    const one = EntityName.parse(words).singular();
    const all = EntityName.parse(words);
    const isFree = ({ pascal, camel }: EntityName) =>
      !taken.has(pascal) && !USED_NAMES.has(pascal) && !SERVICE_MEMBERS.has(camel);
    const own = [one, all, EntityName.parse(`${words}_row`)].find(isFree) ?? all;
    taken.add(own.pascal);
    return [name, own];
  }));
}

function codeOf(
  { name, fields, options, notes }: PulledModel,
  names: ReadonlyMap<string, ModelNames>,
): string {
  const { pascal } = names.get(name)!;
  const lines = fields.map(({ name, code, reference }) => {
    if (!reference) return `  ${name}: ${code},`;
    const target = reference.model === "self" ? '"self"' : names.get(reference.model)?.pascal;
    const args = [target, reference.options].filter(Boolean).join(", ");
    return `  ${name}: ${code}.references(${args}),`;
  });
  const comments = notes.map((note) => `  // not here: ${note}`);
  return [
    `export const ${pascal} = model("${name}", {`,
    ...lines,
    ...comments,
    options === "" ? "});" : `}, ${options});`,
    `export type ${pascal} = Row<typeof ${pascal}>;`,
    "",
  ].join("\n");
}
