/**
 * The seeds of a project's database: rows that its code needs to run.
 *
 * @module
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { listFolder } from "../system/files.ts";
import { CliError } from "../terminal/cli_error.ts";
import type { DatabaseOption } from "./migrations.ts";
import type { Project } from "./project.ts";
import { runInProject } from "./script.ts";

/** The folder of the seeds. */
export const SEEDS = "seeds";

/**
 * Runs the seeds in alphabetical order, in one transaction, after pending migrations. Returns the
 * names of their files.
 *
 * @throws {CliError} if no seed exists, or one fails
 */
export async function runSeeds(
  project: Project,
  { database }: DatabaseOption,
): Promise<readonly string[]> {
  const folder = join(project.root, SEEDS);
  const names = listFolder(folder).filter((name) => name.endsWith(".ts")).toSorted();
  if (names.length === 0) throw new CliError(`Cannot seed: there is no ${SEEDS}/*.ts`);
  const seeds = names.map((name) => [name, pathToFileURL(join(folder, name)).href]);
  await runInProject(project, {
    file: database,
    name: "Db",
    option: "--database",
    showsOutput: true,
    body: `  const seeds = [];
  for (const [name, url] of ${JSON.stringify(seeds)}) {
    const { default: seed } = await import(url);
    if (typeof seed !== "function") {
      throw new TypeError("Cannot seed: ${SEEDS}/" + name + " has no function as its default export");
    }
    seeds.push(seed);
  }
  await using db = await exported.Db.open(await exported.databaseOptions());
  await db.transaction(async () => {
    for (const seed of seeds) await seed(db);
  });`,
  });
  return names.map((name) => `${SEEDS}/${name}`);
}
