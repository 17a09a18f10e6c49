/**
 * Models, with their tables, and migrations.
 *
 * @module
 */
import { posix } from "node:path";
import type { EntityName } from "../../project/entity_name.ts";
import { CliError } from "../../terminal/cli_error.ts";
import {
  declaredModel,
  DEFAULT_FIELD,
  indexesOf,
  modelCode,
  type ModelFields,
  type PlannedModel,
  readModelFields,
} from "../fields/model_fields.ts";
import { parentRows } from "../fields/parent_rows.ts";
import { createTableSql, dropTableSql } from "../fields/table_sql.ts";
import { type Kind, planCode } from "../kind.ts";
import {
  addMigration,
  checkModelName,
  ensureDatabase,
  listModel,
  type ModelListing,
  TEST_DATABASE_FILE,
} from "../project_database.ts";
import { type Generation, specifierOf, type Target } from "../target.ts";

/** A model to generate. */
export interface Model extends ModelListing {
  /** The singular. */
  readonly one: EntityName;
  /** The plural. */
  readonly many: EntityName;
}

/** PostgreSQL truncates longer names. */
const MAX_TABLE_LENGTH = 63;

/** Tables of SQLite itself; refused for every database, since a project can change it. */
const SQLITE_PREFIX = "sqlite_";

/** Names that generated code imports or uses as globals, or that no module may declare. */
export const USED_NAMES: ReadonlySet<string> = new Set(
  ("ConflictException Date Db DbModule DbOptions DbService DatabaseModule Deno FwApplication " +
    "Infinity JwtKey JwtService ListQuery NaN NotFoundException Page Pick Promise Row TestModule")
    .split(" "),
);

/** Members of every database and object, which no repository can be named after. */
export const SERVICE_MEMBERS: ReadonlySet<string> = new Set([
  ..."kysely primary transaction afterCommit createTables checkTables close".split(" "),
  ..."ping poolUsage poolUsages".split(" "),
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/** A model with its migration, listed in the database. */
export const MODEL: Kind = {
  name: "model",
  aliases: [],
  about: "a model with its migration, listed in the database",
  example: "customer name:text:1..100 email:text:email:unique",
  hasFields: true,
  defaultField: DEFAULT_FIELD,
  hasTenant: true,
  async generate(generation) {
    await generateModel(generation);
  },
};

/** Plans a model unless its file exists, which is kept. */
export async function ensureModel(generation: Generation): Promise<PlannedModel> {
  const { plan, target } = generation;
  const model = readModel(target);
  const source = plan.read(model.file);
  if (source === undefined) return { fields: await generateModel(generation), key: "id" };
  await ensureDatabase(generation);
  await listModel(generation, model);
  plan.note(`${model.file} is kept`);
  return await declaredModel(generation, { source, model });
}

/**
 * Reads the model of a target, whose name can be singular or plural.
 *
 * @throws {CliError} if the name is taken, or its table has one that is reserved or too long
 */
export function readModel(target: Target): Model {
  const one = target.name.singular();
  const many = one.plural();
  const shown = JSON.stringify(target.name.kebab);
  if (USED_NAMES.has(one.pascal)) {
    throw new CliError(`Cannot use the name ${shown}: generated code uses another ${one.pascal}`);
  }
  if (many.snake.length > MAX_TABLE_LENGTH) {
    throw new CliError(
      `Cannot use the name ${shown}: a table has at most ${MAX_TABLE_LENGTH} characters`,
    );
  }
  if (many.snake.startsWith(SQLITE_PREFIX)) {
    throw new CliError(
      `Cannot use the name ${shown}: SQLite reserves tables that begin with ${SQLITE_PREFIX}`,
    );
  }
  return {
    one,
    many,
    name: one.pascal,
    accessor: SERVICE_MEMBERS.has(one.camel) ? many.camel : one.camel,
    file: posix.join(target.folder, `${one.snake}_model.ts`),
  };
}

/** Plans a model, its migration and its test, and lists it in the database. */
async function generateModel(generation: Generation): Promise<ModelFields> {
  const { plan, target } = generation;
  const model = readModel(target);
  const { one, many, file } = model;
  await ensureDatabase(generation);
  await checkModelName(plan, model);
  const fields = await readModelFields(generation, one);
  const folder = posix.dirname(file);
  planCode(plan, file, {
    code: modelCode(model, fields),
    test: modelTest(model, { fields, testDatabase: specifierOf(folder, TEST_DATABASE_FILE) }),
  });
  const table = {
    table: many.snake,
    fields: fields.specs,
    unique: fields.unique,
    index: indexesOf(fields),
    referred: fields.referred,
  };
  await addMigration(generation, {
    name: `create_${many.snake}`,
    scripts: (database) => ({
      up: createTableSql(table, database),
      down: dropTableSql(many.snake, database),
    }),
  });
  await listModel(generation, model);
  return fields;
}

/** Returns the test of a model. */
export function modelTest(
  { one: { pascal, snake }, accessor, file }: Model,
  { fields, testDatabase }: { readonly fields: ModelFields; readonly testDatabase: string },
): string {
  const { imports, rows, values } = parentRows(fields, { folder: posix.dirname(file) });
  return `import { factory } from "@fw/fw/testing";
import assert from "node:assert/strict";
import { openTestDatabase } from "${testDatabase}";
${imports}import { ${pascal} } from "./${snake}_model.ts";

Deno.test("${pascal} is stored and read", async () => {
  await using db = await openTestDatabase();
${rows}  const data = factory(${pascal}${values}).build();
  const row = await db.${accessor}.create({ data });
  assert.deepEqual(row, { ...row, ...data });
  assert.deepEqual(await db.${accessor}.findUnique({ where: { id: row.id } }), row);
});
`;
}

/** An empty migration. */
export const MIGRATION: Kind = {
  name: "migration",
  aliases: [],
  about: "an empty migration",
  example: "add-age-to-customers",
  hasFolder: false,
  async generate(generation) {
    await ensureDatabase(generation);
    const scripts = () => ({ up: UP, down: DOWN });
    await addMigration(generation, { name: generation.target.name.snake, scripts });
    generation.plan.note("Write the migration: it runs once it contains a statement");
  },
};

/** Scripts of comments only are not run until they contain a statement. */
const UP = "-- For example: alter table cats add column age integer;\n";

const DOWN = "-- Reverts it, for example: alter table cats drop column age;\n";
