/**
 * The database as a service of the application: a repository for each model.
 *
 * @module
 */
import { CompiledQuery, type Kysely } from "kysely";
import { DbConnection, type OpenDatabase } from "./connection/connection.ts";
import type { Relations } from "./model/include.ts";
import type { AnyModel } from "./model/model.ts";
import type { DbOptions } from "./options.ts";
import { bindRelations, checkRelations } from "./query/bind_relations.ts";
import { Repository } from "./repository.ts";
import type { TablesOf } from "./model/row.ts";
import { createTables } from "./migrate/schema.ts";
import { Table } from "./query/table.ts";
import type { TransactionOptions } from "./transaction/transaction.ts";

/** The models of a service by the name of their accessor. */
export type Models = Readonly<Record<string, AnyModel>>;

/** The relations of the models of a service, by the name of their accessor. */
export type ModelRelations<Accessor extends PropertyKey> = {
  readonly [K in Accessor]?: Relations;
};

/** The relations by table. */
export type GraphOf<M extends Models, R extends ModelRelations<keyof M>> = {
  readonly [K in keyof M as M[K]["~model"]["table"]]: K extends keyof R
    ? R[K] extends Relations ? R[K] : Record<never, never>
    : Record<never, never>;
};

/** The repositories of a service. */
export type Repositories<M extends Models, R extends ModelRelations<keyof M>> = {
  readonly [K in keyof M]: Repository<M[K], never, GraphOf<M, R>>;
};

/** A class that {@linkcode DbService.with} made. */
export interface DbServiceClass<M extends Models, R extends ModelRelations<keyof M>> {
  /** Takes over an open database; use `open`. */
  new (database: OpenDatabase): DbService<M> & Repositories<M, R>;
  /** Opens a database; see {@linkcode DbService.open}. */
  open<T>(this: new (database: OpenDatabase) => T, options: DbOptions): Promise<T>;
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
   * Kysely on the models' tables, for what repositories do not do; inside {@linkcode
   * DbService.transaction} it is part of that. It gives what the driver reads (a boolean of SQLite is
   * 0 or 1), and throws `DbError`s. Repositories do not join a transaction of Kysely's own: on
   * SQLite, which has one connection, they wait for it to end.
   */
  readonly kysely: Kysely<TablesOf<M>>;
  readonly #connection: DbConnection;
  readonly #tables: readonly Table[];

  /**
   * Takes over an open database; use {@linkcode DbService.with} and `open`.
   *
   * @throws {TypeError} if `DbOptions.open` did not give it
   */
  constructor(connection: OpenDatabase, models: M, relations: ModelRelations<keyof M> = {}) {
    if (!(connection instanceof DbConnection)) {
      throw new TypeError("Cannot make service: it takes what DbOptions.open gives");
    }
    this.#connection = connection;
    // The models' tables are known from here on.
    this.kysely = connection.kysely as unknown as Kysely<TablesOf<M>>;
    const tables = Object.entries(models).map(([name, model]) =>
      [name, new Table(model, connection)] as const
    );
    bindRelations(new Map(tables), relations);
    this.#tables = tables.map(([, table]) => table);
    for (const [name, table] of tables) {
      Object.defineProperty(this, name, { value: new Repository(table), enumerable: true });
    }
  }

  /**
   * Gives the class of a service with a repository for each model, which can `include` what the
   * relations lead to.
   *
   * @example
   * ```ts
   * import { belongsTo, DbOptions, DbService, field, hasMany, model } from "@fw/fw/db";
   *
   * const User = model("users", { id: field.integer().primaryKey(), name: field.text() });
   * const Post = model("posts", {
   *   id: field.integer().primaryKey(),
   *   author_id: field.integer().references(User),
   *   title: field.text(),
   * });
   * class Db extends DbService.with({ user: User, post: Post }, {
   *   user: { posts: hasMany(Post.author_id) },
   *   post: { author: belongsTo(Post.author_id) },
   * }) {}
   *
   * await using db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
   * await db.createTables();
   * const users = await db.user.findMany({
   *   include: { posts: { orderBy: { title: "asc" }, take: 3 } },
   * });
   * ```
   *
   * @throws {TypeError} if a name is one of the service's own, or a relation is not of its models
   */
  static with<
    const M extends Models,
    const R extends ModelRelations<keyof M> = Record<never, never>,
  >(
    models: M,
    relations?: R,
  ): DbServiceClass<M, R> {
    for (const name of Object.keys(models)) {
      if (name in DbService.prototype || name === "kysely") {
        throw new TypeError(`Cannot add model: the service has its own ${name}`);
      }
    }
    const tables = Object.values(models).map((model) => model["~model"].table);
    const twice = tables.find((table, index) => tables.indexOf(table) !== index);
    if (twice) throw new TypeError(`Cannot add model: the service has ${twice} already`);
    checkRelations(models, relations ?? {});
    class Service extends DbService<M> {
      constructor(database: OpenDatabase) {
        super(database, models, relations);
      }
    }
    // The constructor defines the accessors under the models' names.
    return Service as unknown as DbServiceClass<M, R>;
  }

  /**
   * Opens a database and gives the service on it, which closes it.
   *
   * @throws {DbError} if it cannot be opened
   */
  static async open<T>(
    this: new (database: OpenDatabase) => T,
    options: DbOptions,
  ): Promise<T> {
    const database = await options.open();
    try {
      return new this(database);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /**
   * Runs a function inside a transaction: every repository, and `kysely`, that it or anything it calls
   * uses is part of it. Gives what the function gives, and commits; if it throws, nothing of it is
   * done. Inside another transaction it is a part of that which can be undone alone.
   *
   * Await what the function starts: what is still to come when it ends fails with a `TypeError`. On
   * PostgreSQL a failed statement dooms the transaction, even if the failure is caught: to go on after
   * one, give it a transaction of its own inside.
   *
   * @example
   * ```ts
   * import { DbOptions, DbService, field, model } from "@fw/fw/db";
   *
   * const Account = model("accounts", { id: field.integer().primaryKey(), cents: field.integer() });
   * class Db extends DbService.with({ account: Account }) {}
   *
   * await using db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
   * await db.createTables();
   * await db.transaction(async () => {
   *   await db.account.create({ data: { cents: 100 } });
   *   await db.account.create({ data: { cents: -100 } });
   * }, { isolation: "serializable", retries: 3 });
   * ```
   *
   * @throws {RangeError} if `retries` is not a whole number of 0 or more
   * @throws {TypeError} if the isolation level is unknown or, inside another transaction, stricter than
   * that one's; or if the function did not await what it began
   * @throws {DbError} if it cannot be begun or committed; and whatever the function throws
   */
  transaction<T>(run: () => T | Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#connection.transaction(run, options);
  }

  /**
   * Makes the tables of the models that are not there, for tests and first runs; it alters none. Of
   * several instances that do so at once, one makes them.
   *
   * @throws {TypeError} inside a transaction
   * @throws {DbError} if the database refuses
   */
  async createTables(): Promise<void> {
    const statements = createTables(this.#tables).map((query) => query.compile());
    await this.#connection.underLock("create tables", async (kysely) => {
      for (const { sql } of statements) await kysely.executeQuery(CompiledQuery.raw(sql));
    });
  }

  /**
   * Checks that the database has the tables and columns of all models, as migrations should have made
   * them: it reads a row of each. What it does not see are types and constraints.
   *
   * @throws {DbError} `Database`, naming the table that is missing, or that lacks a column
   */
  async checkTables(): Promise<void> {
    for (const table of this.#tables) await new Repository(table).findFirst();
  }

  /**
   * Asks the database for a sign of life, for health indicators; `acquireTimeoutMs` bounds the wait.
   *
   * @throws {DbError} if there is none
   */
  async ping(): Promise<void> {
    await this.#connection.ping();
  }

  /**
   * Closes the database, after waiting up to 10 s for what is running; operations fail with
   * `PoolClosed` from then on.
   *
   * @throws {TypeError} inside a transaction
   */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** Closes the database, for `await using` and the end of the application. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
