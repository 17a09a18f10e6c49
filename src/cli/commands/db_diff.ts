/**
 * `fw db diff`: the migration that leads from the migrations to the models.
 *
 * @module
 */
import type { Command } from "commander";
import process from "node:process";
import { EntityName } from "../project/entity_name.ts";
import { migrationNumber, nextNumber } from "../project/migration_folders.ts";
import type { DatabaseOption } from "../project/migrations.ts";
import { type Project, requireProject } from "../project/project.ts";
import { diffsOf, type FolderDiff } from "../project/schema_diff.ts";
import { FilePlan } from "../system/file_plan.ts";
import { CliError, lineOf } from "../terminal/cli_error.ts";
import { ask, count, isInteractive, paint, print, withProgress } from "../terminal/terminal.ts";
import { addDatabaseOption, addExamples, argumentOr, collect, printChanges } from "./options.ts";

/** Options of `fw db diff`. */
export interface DiffCommandOptions extends DatabaseOption {
  readonly check?: boolean;
  readonly rename: readonly string[];
  readonly fill: readonly string[];
  readonly allowDrop?: boolean;
  readonly againstDatabase?: boolean;
  readonly dryRun?: boolean;
}

/** Adds `fw db diff`. */
export function addDiffCommand(parent: Command): void {
  const command = parent.command("diff")
    .argument("[name]", "the name of the migration")
    .summary("write the migration that the models need")
    .description(
      "Compares the models with the tables that the migrations create in an empty database, and " +
        "writes the migration that is missing, with its down.",
    )
    .option("--check", "write nothing; the exit code is 1 if the models differ")
    .option("--rename <old:new>", "a table or column that has a new name (repeatable)", collect, [])
    .option(
      "--fill <column=sql>",
      "the value that rows get in a new column (repeatable)",
      collect,
      [],
    )
    .option("--allow-drop", "write a migration that loses data")
    .option("--against-database", "compare with the database instead of the migrations")
    .option("--dry-run", "list what would be written, and write nothing")
    .action(writeDiff);
  addDatabaseOption(command);
  addExamples(
    command,
    "fw db diff add-age-to-cats",
    "fw db diff rename-name --rename cats.name:full_name",
    "fw db diff add-age --fill cats.age=0",
    "fw db diff --check",
  );
}

/** Writes the migration that the models of the project need. */
export async function writeDiff(
  given: string | undefined,
  options: DiffCommandOptions,
): Promise<void> {
  const { check = false, allowDrop = false, dryRun = false } = options;
  const project = requireProject(process.cwd());
  const diffs = await compare(project, options);
  for (const diff of diffs) printDiff(diff, { isNamed: diffs.length > 1 });
  const changes = diffs.flatMap(({ changes }) => changes);
  if (check && changes.length > 0) {
    const places = count(changes.length, "place");
    throw new CliError(
      `The models and the migrations differ in ${places}: fw db diff NAME writes the migration`,
    );
  }
  if (changes.length === 0) {
    const what = options.againstDatabase ? "the database" : "the migrations";
    return print(`The models and ${what} agree.`);
  }
  if (!allowDrop) refuseLosses(diffs);
  const name = await argumentOr(given, "What is the name of the migration?");
  const plan = planMigrations(project, { diffs, name });
  plan.check();
  const files = plan.changes();
  if (!dryRun) plan.apply(files);
  printChanges(files, plan.notes());
}

/** Compares, and on a terminal asks which new names are those of something that is gone. */
async function compare(
  project: Project,
  options: DiffCommandOptions,
): Promise<readonly FolderDiff[]> {
  const { database, againstDatabase = false } = options;
  const fills = fillsOf(options.fill);
  const renames = [...options.rename];
  const asked = new Set<string>();
  const against = againstDatabase ? "database" : "migrations";
  const run = () =>
    withProgress("Comparing", () => diffsOf(project, { database, against, renames, fills }));
  let diffs = await run();
  for (;;) {
    if (options.check || !isInteractive()) return diffs;
    const candidates = diffs.flatMap((diff) => diff.candidates);
    const open = candidates.find((it) => !asked.has(it) && !isTaken(it, renames));
    if (open === undefined) return diffs;
    asked.add(open);
    const [from, to] = open.split(":");
    const answer = await ask(`Is ${to} the new name of ${from}? (yes/no)`);
    if (!/^y(es)?$/i.test(answer)) continue;
    renames.push(open);
    diffs = await run(); // a renamed table may have columns that are renamed too
  }
}

/** Checks whether one of the names is a part of another rename. */
function isTaken(candidate: string, renames: readonly string[]): boolean {
  const [from, to] = candidate.split(":");
  return renames.some((other) => {
    const [otherFrom, otherTo] = other.split(":");
    return otherFrom === from || (otherTo === to && ownerOf(other) === ownerOf(candidate));
  });
}

/** Returns the table of a column that is renamed, or the schema of a table. */
function ownerOf(rename: string): string {
  const [from = ""] = rename.split(":");
  return from.slice(0, Math.max(0, from.lastIndexOf(".")));
}

/**
 * @throws {CliError} if a migration loses data
 */
function refuseLosses(diffs: readonly FolderDiff[]): void {
  const losses = new Set(diffs.flatMap(({ losses }) => losses));
  if (losses.size === 0) return;
  const [candidate] = diffs.flatMap(({ candidates }) => candidates);
  const rename = candidate === undefined
    ? ""
    : `; --rename ${candidate} keeps its data under another name`;
  throw new CliError(
    `Cannot write the migration: it would ${[...losses].join(", ")}, and lose data${rename}; ` +
      "--allow-drop writes it",
  );
}

function planMigrations(
  project: Project,
  { diffs, name }: { readonly diffs: readonly FolderDiff[]; readonly name: string },
): FilePlan {
  const plan = new FilePlan(project.root);
  const { snake } = EntityName.parse(name);
  const folders = diffs.map(({ folder }) => folder);
  const first = migrationNumber(project, { folders, name: snake });
  for (const { folder: { path }, migrations } of diffs) {
    let number = first;
    for (const { suffix, up, down } of migrations) {
      plan.create(`${path}/${number}_${snake}${suffix}.sql`, up);
      plan.create(`${path}/${number}_${snake}${suffix}.down.sql`, down);
      number = nextNumber(number);
    }
  }
  for (const column of new Set(diffs.flatMap(({ unfilled }) => unfilled))) {
    plan.note(
      `${column} is not null and has no default: the migration fails if a row has no value for ` +
        `it; --fill ${column}=SQL sets one`,
    );
  }
  return plan;
}

function printDiff(
  { folder, changes, notCompared }: FolderDiff,
  { isNamed }: { readonly isNamed: boolean },
): void {
  if (isNamed && changes.length > 0) print(`${folder.path}:`);
  for (const change of changes) {
    const style = change.startsWith("drop") ? "red" : "cyan";
    print(`${isNamed ? "  " : ""}${paint(style, lineOf(change))}`);
  }
  for (const part of notCompared) print(paint("dim", `not compared: ${lineOf(part)}`));
}

function fillsOf(texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(texts.map((text) => {
    const [, column = "", value = ""] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (column.includes(".")) return [column, value];
    throw new CliError(`Cannot fill ${text}: it is not table.column=SQL`);
  }));
}
