/**
 * The database as a service of the application: a repository for each model.
 *
 * @module
 */
import type { Kysely } from "kysely";
import { DbConnection } from "./connection.ts";
import type { AnyModel } from "./model.ts";
import type { DbOptions } from "./options.ts";
import { Repository } from "./repository.ts";
import type { TablesOf } from "./row.ts";
import { createTable } from "./schema.ts";
import { Table } from "./table.ts";

/** The models of a service by the name of their accessor. */
export type Models = Readonly<Record<string, AnyModel>>;

/** The repositories of a service. */
export type Repositories<M extends Models> = { readonly [K in keyof M]: Repository<M[K]> };

/** A class that {@linkcode DbService.with} made. */
export interface DbServiceClass<M extends Models> {
  /** Takes over a connection; use `open`. */
  new (connection: DbConnection): DbService<M> & Repositories<M>;
  /** Opens a database; see {@linkcode DbService.open}. */
  open<T>(this: new (connection: DbConnection) => T, options: DbOptions): Promise<T>;
}

/**
 * An open database. An application extends it with its models and injects the result.
 *
 * @example
 * ```ts
 * import { DbOptions, DbService, field, model } from "@fw/fw/db";
 *
 * const User = model("users", { id: field.integer().primaryKey(), email: field.text().unique() });
 * class Db extends DbService.with({ user: User }) {}
 *
 * await using db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
 * await db.createTables();
 * const { id } = await db.user.create({ data: { email: "ada@example.org" } });
 * const ada = await db.user.findUnique({ where: { id } });
 * ```
 */
export class DbService<M extends Models = Models> {
  /**
   * Kysely on the models' tables, for what repositories do not do. It gives what the driver reads (a
   * boolean of SQLite is 0 or 1) and throws the driver's errors. In a transaction of Kysely use its
   * own `trx` only: SQLite has one connection, and a repository would wait for the transaction to end.
   */
  readonly kysely: Kysely<TablesOf<M>>;
  readonly #connection: DbConnection;
  readonly #tables: readonly Table[];

  /** Takes over a connection; use {@linkcode DbService.with} and `open`. */
  constructor(connection: DbConnection, models: M) {
    this.#connection = connection;
    // The models' tables are known from here on.
    this.kysely = connection.kysely as unknown as Kysely<TablesOf<M>>;
    const tables = Object.entries(models).map(([name, model]) =>
      [name, new Table(model, connection)] as const
    );
    this.#tables = tables.map(([, table]) => table);
    for (const [name, table] of tables) {
      Object.defineProperty(this, name, { value: new Repository(table), enumerable: true });
    }
  }

  /**
   * Gives the class of a service with a repository for each model.
   *
   * @throws {TypeError} if a name is one of the service's own
   */
  static with<M extends Models>(models: M): DbServiceClass<M> {
    for (const name of Object.keys(models)) {
      if (name in DbService.prototype || name === "kysely") {
        throw new TypeError(`Cannot add model: the service has its own ${name}`);
      }
    }
    class Service extends DbService<M> {
      constructor(connection: DbConnection) {
        super(connection, models);
      }
    }
    // The constructor defines the accessors under the models' names.
    return Service as unknown as DbServiceClass<M>;
  }

  /**
   * Opens a database and gives the service on it, which closes it.
   *
   * @throws {DbError} if it cannot be opened
   */
  static async open<T>(
    this: new (connection: DbConnection) => T,
    options: DbOptions,
  ): Promise<T> {
    return new this(new DbConnection(await options.open()));
  }

  /**
   * Makes the tables of the models that are not there, for tests and first runs; it alters none.
   *
   * @throws {DbError} if the database refuses
   */
  async createTables(): Promise<void> {
    for (const table of this.#tables) {
      await this.#connection.execute("create tables", createTable(table));
    }
  }

  /**
   * Asks the database for a sign of life, for health indicators.
   *
   * @throws {DbError} if there is none
   */
  async ping(): Promise<void> {
    await this.#connection.execute("reach the database", { sql: "select 1", parameters: [] });
  }

  /** Closes the database; operations fail with `PoolClosed` from then on. */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** Closes the database, for `await using` and the end of the application. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
