/**
 * Compares models with migrations, and writes the migration that is missing.
 *
 * @module
 */
import { DbConnection, type OpenDatabase } from "../../connection/connection.ts";
import type { Grammar } from "../../connection/grammar.ts";
import type { Table } from "../../query/table.ts";
import { migrate } from "../migrate.ts";
import type { MigrationSource } from "../migrations.ts";
import { createTables } from "../schema.ts";
import { type ChangeTexts, describeChange } from "./change_texts.ts";
import { type MigrationScripts, writeMigrations } from "./migration_scripts.ts";
import { readSchema } from "./read_schema.ts";
import { readRenames, renamed } from "./rename.ts";
import { targetOf, without } from "./target.ts";

/** How models are compared with migrations. */
export interface SchemaDiffOptions {
  /** What the models are compared with: the migrations, by default, or the tables of the database. */
  readonly against?: "migrations" | "database";
  /** Tables and columns that get another name: `["users:people", "people.name:full_name"]`. */
  readonly renames?: readonly string[];
  /** Values, as SQL, that rows which exist get in new columns: `{ "people.age": "0" }`. */
  readonly fills?: Readonly<Record<string, string>>;
  /** Tables that are not compared, as no model has them; `*` at the end stands for any text. */
  readonly externalTables?: readonly string[];
}

/** How models differ from migrations. */
export interface SchemaDiff extends ChangeTexts {
  /** The database of the SQL. */
  readonly brand: Grammar["brand"];
  /** What was not compared, and is not changed: `view active_users`. */
  readonly notCompared: readonly string[];
  /** The missing migrations in their order: at most two, none if nothing differs. */
  readonly migrations: readonly MigrationScripts[];
}

/** A database and its migrations, as `DbOptions` open them. */
interface OpenedDatabase {
  readonly database: OpenDatabase;
  readonly source: MigrationSource | undefined;
}

/** The options of a database. */
export interface ComparedOptions {
  /** Creates an empty database. */
  openTemporary(): Promise<OpenedDatabase>;
  /** Opens the database. */
  openUnmigrated(how: { readonly needsMigrations: false }): Promise<OpenedDatabase>;
}

/** Compares models with migrations, or with a database. */
export async function compareModels(
  { options, tablesIn }: {
    readonly options: ComparedOptions;
    /** Returns the tables of the models in a database. */
    readonly tablesIn: (database: DbConnection) => readonly Table[];
  },
  { against = "migrations", renames: texts = [], fills = {}, externalTables = [] }:
    SchemaDiffOptions,
): Promise<SchemaDiff> {
  const renames = readRenames(texts);
  const { desired, tables, schemas, grammar } = await within(
    await options.openTemporary(),
    async (database) => {
      const tables = tablesIn(database);
      const schemas = schemasOf(tables);
      await createTables(database, tables);
      const desired = await readSchema(database, schemas);
      return { desired, tables, schemas, grammar: database.grammar };
    },
  );
  const found = await within(
    await (against === "database"
      ? options.openUnmigrated({ needsMigrations: false })
      : options.openTemporary()),
    async (database, source) => {
      if (against === "migrations") {
        if (!source) throw new TypeError("Cannot compare migrations: the options name none");
        await migrate(database, source);
      }
      return await readSchema(database, schemas);
    },
  );
  const { to, excluded, notCompared } = targetOf(renamed(found, renames), desired, {
    tables,
    grammar,
    renames,
    externalTables,
  });
  const from = without(found, excluded);
  const values = new Map(Object.entries(fills));
  const { change, migrations } = writeMigrations({ from, to, renames, fills: values }, grammar);
  const description = describeChange(change, { renames, fills: values, brand: grammar });
  return {
    brand: grammar.brand,
    ...description,
    notCompared: [...new Set(notCompared)],
    migrations: withComments(migrations, description.unfilled),
  };
}

/** Explains in the first script why it may fail. */
function withComments(
  migrations: readonly MigrationScripts[],
  unfilled: readonly string[],
): readonly MigrationScripts[] {
  const comments = unfilled.map((name) =>
    `-- This fails if a row has no value for ${name}, which is not null and has no default.\n` +
    `-- Written with --fill ${name}=SQL, it sets one.\n`
  ).join("");
  return migrations.map((migration, place) => ({
    ...migration,
    up: place > 0
      ? migration.up
      : migration.up.replace(/^(?:-- no transaction\n)?/, (first) => first + comments),
  }));
}

/** Runs a function with a database, and closes it. */
async function within<T>(
  { database, source }: OpenedDatabase,
  run: (database: DbConnection, source: MigrationSource | undefined) => Promise<T>,
): Promise<T> {
  try {
    // the connection is internal, so the type of an open database does not include it
    if (database instanceof DbConnection) return await run(database, source);
    throw new TypeError("Cannot compare tables: the options are of another release");
  } finally {
    await database.close();
  }
}

/** Returns the schemas of PostgreSQL that tables are in, besides the current one. */
function schemasOf(tables: readonly Table[]): readonly string[] {
  return [
    ...new Set(tables.flatMap(({ source }) => source.includes(".") ? [source.split(".")[0]!] : [])),
  ];
}
