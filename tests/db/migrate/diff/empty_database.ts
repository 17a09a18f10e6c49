/** A database that is emptied again and again, which is faster than a new one. */
import { sql } from "kysely";
import { DbOptions } from "../../../../src/db/mod.ts";
import { DbConnection } from "../../../../src/db/connection/connection.ts";
import type { Schema, TableSchema } from "../../../../src/db/migrate/diff/table_schema.ts";
import type { Brand } from "../../support/database.ts";
import { createDatabase } from "../../support/servers.ts";

/** A database of a test. */
export class EmptyDatabase implements AsyncDisposable {
  /** The open database. */
  connection: DbConnection;
  readonly #options: DbOptions;
  readonly #resources: AsyncDisposableStack;

  private constructor(
    connection: DbConnection,
    options: DbOptions,
    resources: AsyncDisposableStack,
  ) {
    this.connection = connection;
    this.#options = options;
    this.#resources = resources;
  }

  /** Creates a database. */
  static async create(brand: Brand): Promise<EmptyDatabase> {
    const resources = new AsyncDisposableStack();
    const url = brand === "sqlite"
      ? "sqlite::memory:"
      : resources.use(await createDatabase(brand)).url;
    const options = DbOptions.fromUrl(url);
    return new EmptyDatabase(await open(options), options, resources);
  }

  /** Removes all that it has. */
  async empty(): Promise<void> {
    const { kysely, grammar: { brand } } = this.connection;
    switch (brand) {
      case "SQLite":
        await this.connection.close();
        this.connection = await open(this.#options);
        return;
      case "PostgreSQL":
        await sql`drop schema if exists audit cascade`.execute(kysely);
        await sql`drop schema public cascade`.execute(kysely);
        await sql`create schema public`.execute(kysely);
        return;
      case "MySQL":
        await kysely.connection().execute(async (own) => {
          await sql`set foreign_key_checks = 0`.execute(own);
          for (
            const { name, isView } of await own.introspection.getTables({
              withInternalKyselyTables: true,
            })
          ) {
            await sql`drop ${sql.raw(isView ? "view" : "table")} ${sql.table(name)}`.execute(own);
          }
          await sql`set foreign_key_checks = 1`.execute(own);
        });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.close();
    await this.#resources.disposeAsync();
  }
}

async function open(options: DbOptions): Promise<DbConnection> {
  const database = await options.open();
  if (database instanceof DbConnection) return database;
  throw new TypeError("it is another database");
}

/** Returns the tables of a schema without names of parts, and in an order that does not matter. */
export function plain({ tables }: Schema): Readonly<Record<string, unknown>> {
  const own = [...tables.values()].filter(({ name }) => !/^(?:kysely_|fw_)/.test(name));
  return Object.fromEntries(
    own.map((table) => [table.name, plainTable(table)] as const)
      .toSorted(([a], [b]) => a < b ? -1 : 1),
  );
}

function plainTable({ name: _, columns, primaryKey, ...parts }: TableSchema): unknown {
  const sorted = (list: readonly object[]) =>
    list.map((it) => {
      const { name: _, isIndex: _i, isInline: _l, ...rest } = it as Record<string, unknown>;
      return JSON.stringify(rest);
    }).toSorted();
  return {
    columns: columns.toSorted((a, b) => a.name < b.name ? -1 : 1),
    primaryKey: primaryKey?.columns,
    uniques: sorted(parts.uniques),
    indexes: sorted(parts.indexes),
    foreignKeys: sorted(parts.foreignKeys),
    checks: sorted(parts.checks),
    others: sorted(parts.others),
    options: parts.options,
  };
}
