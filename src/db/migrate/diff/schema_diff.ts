/**
 * Compares models with migrations, and writes the migration that is missing.
 *
 * @module
 */
import { CompiledQuery } from "kysely";
import type { DbConnection } from "../../connection/connection.ts";
import type { Table } from "../../query/table.ts";
import type { UnmigratedDatabase } from "../migrations.ts";
import { createTables, tableStatements } from "../schema.ts";
import { type ChangeTexts, describeChange } from "./change_texts.ts";
import { type MigrationScripts, writeMigrations } from "./migration_scripts.ts";
import type { ScriptBrand } from "../script.ts";
import { migrateConfined } from "./confined_migrations.ts";
import {
  type IntrospectedModel,
  type IntrospectOptions,
  modelsOfTables,
} from "./introspected_models.ts";
import { readMysql } from "./mysql_schema.ts";
import { readPostgres } from "./postgres_schema.ts";
import { readSqlite } from "./sqlite_schema.ts";
import { readRenames, renamed } from "./rename.ts";
import { type Schema, schemaOf } from "./table_schema.ts";
import { within } from "./temporary_database.ts";
import { targetOf, without } from "./target.ts";

/** How models are compared with migrations. */
export interface SchemaDiffOptions {
  /** The other side: the migrations, by default, or the tables of the database. */
  readonly against?: "migrations" | "database";
  /** Tables and columns that get another name: `["users:people", "people.name:full_name"]`. */
  readonly renames?: readonly string[];
  /** Values, as SQL, that rows which exist get in new columns: `{ "people.age": "0" }`. */
  readonly fills?: Readonly<Record<string, string>>;
  /** Tables that are not compared, as no model has them; `*` at the end stands for any text. */
  readonly externalTables?: readonly string[];
  /** Aborting it ends the comparison, which removes its databases and throws the reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How models differ from migrations. */
export interface SchemaDiff extends ChangeTexts {
  /** The database of the SQL. */
  readonly brand: ScriptBrand;
  /** What was not compared, and is not changed: `view active_users`. */
  readonly notCompared: readonly string[];
  /** The missing migrations in their order: at most two, none if nothing differs. */
  readonly migrations: readonly MigrationScripts[];
}

/** The options of a database. */
export interface ComparedOptions {
  /** Creates an empty database. */
  openTemporary(): Promise<UnmigratedDatabase>;
  /** Opens the database. */
  openUnmigrated(how: { readonly needsMigrations: false }): Promise<UnmigratedDatabase>;
}

/** Models and the options of their database. */
export interface ComparedModels {
  /** The options. */
  readonly options: ComparedOptions;
  /** Returns the tables of the models in a database. */
  readonly tablesIn: (database: DbConnection) => readonly Table[];
}

/** Compares models with migrations, or with a database. */
export async function compareModels(
  models: ComparedModels,
  { signal, ...how }: SchemaDiffOptions,
): Promise<SchemaDiff> {
  if (!signal) return await compare(models, how);
  try {
    const diff = await compare({ ...models, options: closedBy(signal, models.options) }, how);
    signal.throwIfAborted();
    return diff;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

async function compare(
  { options, tablesIn }: ComparedModels,
  { against = "migrations", renames: texts = [], fills = {}, externalTables = [] }:
    SchemaDiffOptions,
): Promise<SchemaDiff> {
  const opened = against === "database"
    ? options.openUnmigrated({ needsMigrations: false })
    : options.openTemporary();
  const { desired, found, tables, grammar } = await within(
    await opened,
    async (database, source) => {
      if (against === "migrations") {
        if (!source) throw new TypeError("Cannot compare migrations: the options name none");
        const otherwise = "compare with the tables of the database (--against-database)";
        await migrateConfined(database, { source, otherwise });
      }
      const tables = tablesIn(database);
      const found = await readSchema(database, schemasOf(tables));
      const canUndo = database.grammar.brand === "PostgreSQL" &&
        (against === "migrations" || schemasOf(tables).length === 0);
      const desired = canUndo
        ? await wantedUncommitted(database, tables)
        : await wantedIn({ options, tablesIn });
      return { desired, found, tables, grammar: database.grammar };
    },
  );
  const renames = readRenames(texts, found);
  const { to, excluded, notCompared } = targetOf({
    current: renamed(found, renames),
    desired,
  }, {
    tables,
    grammar,
    renames,
    externalTables,
  });
  const from = without(found, excluded);
  const values = new Map(Object.entries(fills));
  const written = writeMigrations({ from, to, renames, fills: values }, grammar);
  const description = describeChange(written.change, { renames, fills: values, brand: grammar });
  return {
    brand: grammar.brand,
    ...description,
    losses: [...description.losses, ...written.losses],
    notCompared: [...new Set(notCompared)],
    migrations: withComments(written.migrations, description.unfilled),
  };
}

/** Opens databases that an aborted signal closes: what uses them fails. */
function closedBy(signal: AbortSignal, options: ComparedOptions): ComparedOptions {
  const closing = async (opening: Promise<UnmigratedDatabase>) => {
    const opened = await opening;
    const close = () => opened.database.close();
    if (signal.aborted) await close();
    signal.throwIfAborted();
    signal.addEventListener("abort", () => void close().catch(() => {})); // the user's fails too
    return opened;
  };
  return {
    openTemporary: () => closing(options.openTemporary()),
    openUnmigrated: (how) => closing(options.openUnmigrated(how)),
  };
}

/** Reads the tables of a database as models. */
export async function introspect(
  options: Pick<ComparedOptions, "openUnmigrated">,
  how: IntrospectOptions,
): Promise<readonly IntrospectedModel[]> {
  return await within(
    await options.openUnmigrated({ needsMigrations: false }),
    async (database) => {
      const schema = await readSchema(database, how.schemas);
      return modelsOfTables(schema, { ...how, grammar: database.grammar });
    },
  );
}

/**
 * Reads the tables of a database; on PostgreSQL those of the current schema, and of others.
 *
 * @throws {DbError} if it fails
 */
export async function readSchema(
  { kysely, grammar: { brand, system } }: DbConnection,
  schemas: readonly string[] = [],
): Promise<Schema> {
  switch (brand) {
    case "PostgreSQL":
      return await readPostgres(kysely, schemas);
    case "MySQL":
      return await readMysql(kysely, { isMariadb: system === "mariadb" });
    case "SQLite":
      return await readSqlite(kysely);
  }
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

/** Reads the tables of models as they are in an empty database. */
async function wantedIn({ options, tablesIn }: ComparedModels): Promise<Schema> {
  return await within(await options.openTemporary(), async (database) => {
    const tables = tablesIn(database);
    await createTables(database, tables);
    return await readSchema(database, schemasOf(tables));
  });
}

/**
 * Reads the tables of models as a transaction of PostgreSQL creates them, in a schema that no other
 * session sees. Functions and types of the migrations are there, which defaults may need.
 */
async function wantedUncommitted(
  database: DbConnection,
  tables: readonly Table[],
): Promise<Schema> {
  const { kysely } = database;
  const schemas = schemasOf(tables);
  const own = `fw_diff_${crypto.randomUUID().replaceAll("-", "")}`;
  const statements = [
    ...schemas.map((name, place) =>
      `do $fw$ begin if to_regnamespace('"${name}"') is not null then
        alter schema "${name}" rename to ${own}_${place}; end if; end $fw$`
    ),
    `create schema ${own}`,
    `select set_config('search_path', '${own}, ' || current_setting('search_path'), true)`,
    ...tableStatements(tables),
  ];
  const undone = new Error("undone");
  let desired: Schema = { tables: new Map(), others: [] };
  try {
    await database.transaction(async () => {
      for (const statement of statements) await kysely.executeQuery(CompiledQuery.raw(statement));
      desired = await readSchema(database, schemas);
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
  return desired;
}

/** Returns the schemas of PostgreSQL that tables are in, besides the current one. */
function schemasOf(tables: readonly Table[]): readonly string[] {
  return [...new Set(tables.map(({ source }) => schemaOf(source)))].filter(Boolean);
}
