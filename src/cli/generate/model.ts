/**
 * Generating a model, with its table.
 *
 * @module
 */
import { posix } from "node:path";
import { CliError } from "../cli_error.ts";
import type { EntityName } from "../entity_name.ts";
import { modelTemplate, tableScripts } from "../templates/kinds/model.ts";
import type { Generation } from "./generation.ts";
import { addMigration, databaseOf, ensureDatabase, listModel } from "./project_database.ts";
import { folderOf, specifierOf } from "./target.ts";

/** The file that opens the database of tests. */
export const TEST_DATABASE_FILE = "src/test_database.ts";

/** What is imported where a model is, or what every database has already. */
const TAKEN: ReadonlySet<string> = new Set([
  ..."db row field model promise provide inject module route".split(" "),
  ..."kysely transaction createTables close ping open with".split(" "),
]);

/** Plans a model, its migration and its test, and lists it in the database. */
export async function generateModel({ plan, project, target }: Generation): Promise<void> {
  const one = modelName(target.name);
  const folder = folderOf(target, one.plural());
  const file = posix.join(folder, `${one.snake}_model.ts`);
  const testFile = file.replace(/\.ts$/, "_test.ts");
  ensureDatabase(plan, project);
  const testDatabase = specifierOf(testFile, TEST_DATABASE_FILE);
  const { code, test } = modelTemplate(one, { testDatabase });
  plan.create(file, code);
  plan.create(testFile, test);
  const scripts = tableScripts(one, databaseOf(plan));
  addMigration(plan, project, `create_${one.plural().snake}`, scripts);
  await listModel(plan, project, { name: one.pascal, accessor: one.camel, file });
}

/**
 * Gives the name of a model: that of one, whether one or many were named.
 *
 * @throws {CliError} if something else has it
 */
export function modelName(name: EntityName): EntityName {
  const one = name.singular();
  if (!TAKEN.has(one.camel)) return one;
  throw new CliError(
    `Cannot use the name ${JSON.stringify(name.kebab)}: the database has another use of it`,
  );
}
