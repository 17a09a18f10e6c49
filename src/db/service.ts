/**
 * The database as a service of the application: a repository for each model.
 *
 * @module
 */
import type { Kysely } from "kysely";
import type { PoolUsage } from "../platform/pool_usage.ts";
import { DbConnection, type OpenDatabase } from "./connection/connection.ts";
import { bindHooks, checkHooks, type ModelHooks } from "./model/hooks.ts";
import type { AnyModel, KeylessModel } from "./model/model.ts";
import type { DbOptions } from "./options.ts";
import { checkOptions } from "./model/plain_object.ts";
import { sourceOf, Table } from "./query/table.ts";
import { bindRelations, checkRelations } from "./query/table_relations.ts";
import type { Relations } from "./model/relation.ts";
import type { ReadRepository } from "./read_repository.ts";
import { Repository } from "./repository.ts";
import type { DeletedAtColumn, TablesOf } from "./model/row.ts";
import type { TransactionOptions } from "./transaction/transaction.ts";

/** The models of a service by the name of their accessor. */
export type Models = Readonly<Record<string, AnyModel>>;

/** The relations of the models of a service, by the name of their accessor. */
export type ModelRelations<Accessor extends PropertyKey> = {
  readonly [K in Accessor]?: Relations;
};

/** The models by table, with their relations. */
export type GraphOf<M extends Models, R extends ModelRelations<keyof M>> = {
  readonly [K in keyof M as M[K]["~model"]["table"]]: {
    readonly model: M[K];
    readonly relations: K extends keyof R ? R[K] extends Relations ? R[K] : Record<never, never>
      : Record<never, never>;
  };
};

/** The repositories of a service. */
export type Repositories<M extends Models, R extends ModelRelations<keyof M>> = {
  readonly [K in keyof M]: M[K] extends KeylessModel
    ? ReadRepository<M[K], DeletedAtColumn<M[K]>, GraphOf<M, R>>
    : Repository<M[K], DeletedAtColumn<M[K]>, GraphOf<M, R>>;
};

/** The {@linkcode ModelHooks} of the models of a service, by the name of their accessor. */
export type ServiceHooks<M extends Models, Db> = {
  readonly [K in keyof M]?: ModelHooks<M[K], Db> | undefined;
};

/** What a service does besides; see {@linkcode DbService.with}. */
export interface ServiceOptions<M extends Models, Db> {
  /** What runs after rows are written, inside the transaction. */
  readonly on?: ServiceHooks<M, Db> | undefined;
}

/** A class that {@linkcode DbService.with} returns. */
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
   * Kysely on the models' tables, for queries beyond those of repositories; inside
   * {@linkcode DbService.transaction} it is part of the transaction. It returns values as the
   * driver reads them (a boolean of SQLite is 0 or 1), and throws `DbError`s.
   *
   * Repositories do not join a transaction that Kysely begins: on SQLite, which has one connection,
   * they wait for it to end. Inside {@linkcode DbService.transaction} they are refused until then.
   */
  readonly kysely: Kysely<TablesOf<M>>;
  readonly #connection: DbConnection;
  readonly #tables: readonly Table[];
  #primary: this | undefined;

  /**
   * Takes over an open database; use {@linkcode DbService.with} and `open`.
   *
   * @throws {TypeError} if it is not a result of `DbOptions.open`
   */
  constructor(
    connection: OpenDatabase,
    models: M,
    { relations = {}, on = {} }: {
      readonly relations?: ModelRelations<keyof M> | undefined;
      readonly on?: ServiceHooks<Models, DbService<M>> | undefined;
    } = {},
  ) {
    if (!(connection instanceof DbConnection)) {
      throw new TypeError("Cannot create service: the database is not a result of DbOptions.open");
    }
    this.#connection = connection;
    // The models' tables are known from here on.
    this.kysely = connection.kysely as unknown as Kysely<TablesOf<M>>;
    const tables = Object.entries(models).map(([name, model]) =>
      [name, new Table(model, connection, bindHooks(on[name], this))] as const
    );
    bindRelations(new Map(tables), relations);
    this.#tables = tables.map(([, table]) => table);
    for (const [name, table] of tables) {
      Object.defineProperty(this, name, { value: new Repository(table), enumerable: true });
    }
  }

  /**
   * Returns the class of a service with a repository for each model, which can `include` the rows
   * of its relations.
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
   * `on` has functions that run with the rows of each write, inside its transaction; see
   * {@linkcode ModelHooks}.
   *
   * @throws {TypeError} if a name is that of a member of the service, a relation is of other
   * models, or a hook is of an unknown model or event
   */
  static with<
    const M extends Models,
    const R extends ModelRelations<keyof M> = Record<never, never>,
  >(
    models: M,
    relations?: R,
    options: ServiceOptions<M, DbService<M> & Repositories<M, R>> = {},
  ): DbServiceClass<M, R> {
    for (const name of Object.keys(models)) {
      if (name in DbService.prototype || name === "kysely") {
        throw new TypeError(`Cannot add model: the service has its own ${name}`);
      }
    }
    const definitions = Object.values(models).map((model) => model["~model"]);
    // as on SQLite, without schemas: no two models may share a table on any database
    const tables = definitions.map((it) => sourceOf(it, { brand: "SQLite" }));
    for (const names of [definitions.map(({ table }) => table), tables]) {
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice) throw new TypeError(`Cannot add model: the service has ${twice} already`);
    }
    checkRelations(models, relations ?? {});
    checkOptions(options, ["on"], { action: "create service" });
    checkHooks(models, options.on ?? {});
    // Each is called with the rows of its model, and the service.
    const on = options.on as ServiceHooks<Models, DbService<M>> | undefined;
    class Service extends DbService<M> {
      constructor(database: OpenDatabase) {
        super(database, models, { relations, on });
      }
    }
    // The constructor defines the accessors under the models' names.
    return Service as unknown as DbServiceClass<M, R>;
  }

  /**
   * Opens a database and returns a service on it, which closes it.
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
   * Returns the service on the database without its read replicas, whose reads see each commit. It
   * shares the transactions of this service, and is the same where the database has no replicas.
   */
  primary(): this {
    const { primary } = this.#connection;
    if (primary === this.#connection) return this;
    // `open` creates a service in the same way.
    const Service = this.constructor as new (database: OpenDatabase) => this;
    return this.#primary ??= new Service(primary);
  }

  /**
   * Runs a function inside a transaction, which every repository and `kysely` joins that is used by
   * the function or its callees. Commits and returns the function's result; rolls back if it
   * throws. Inside another transaction it is a savepoint, which can be rolled back alone.
   *
   * Await all operations of the function: one that is pending when it ends fails with a
   * `TypeError`. On PostgreSQL a transaction cannot be committed after a failed statement, even if
   * its error is caught: run such a statement in a nested transaction.
   *
   * @example
   * ```ts
   * import { DbOptions, DbService, field, model } from "@fw/fw/db";
   *
   * const Account = model("accounts", {
   *   id: field.integer().primaryKey(),
   *   cents: field.integer(),
   * });
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
   * @throws {TypeError} if an option or the isolation level is unknown; or if, inside another
   * transaction, the level is stricter than that one's; or if the function did not
   * await its operations
   * @throws {DbError} if it cannot be begun or committed; and whatever the function throws
   */
  transaction<T>(run: () => T | Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#connection.transaction(run, options);
  }

  /**
   * Registers a callback that runs after the current transaction commits, such as one that sends a
   * mail. It runs once, regardless of retries, and not at all if the transaction, or the nested one
   * of the call, is rolled back.
   *
   * Callbacks run in the order of registration, outside the transaction, before `transaction()`
   * resolves. It is too late then to undo anything, so a failure is logged (`fw.db`, level
   * `error`). A process that ends after the commit loses them.
   *
   * Outside a transaction, and inside one that `kysely` has begun by itself, the callback runs at
   * once, and its failure is that of the call.
   *
   * @example
   * ```ts
   * import { DbOptions, DbService, field, model } from "@fw/fw/db";
   *
   * const Order = model("orders", { id: field.integer().primaryKey() });
   * class Db extends DbService.with({ order: Order }) {}
   *
   * await using db = await Db.open(DbOptions.fromUrl("sqlite::memory:"));
   * await db.createTables();
   * const sent: number[] = [];
   * await db.transaction(async () => {
   *   const { id } = await db.order.create({ data: {} });
   *   await db.afterCommit(() => void sent.push(id));
   *   console.assert(sent.length === 0);
   * });
   * console.assert(sent.length === 1);
   * ```
   *
   * @throws {TypeError} if the transaction has already ended, because the call was not awaited, or
   * a Kysely transaction is open in it
   */
  afterCommit(callback: () => unknown): Promise<void> {
    return this.#connection.afterCommit(callback);
  }

  /**
   * Creates the missing tables of the models, for tests and first runs; it alters none. Of several
   * instances that do so at once, one creates them. Models without a key are left out.
   *
   * @throws {TypeError} inside a transaction
   * @throws {DbError} if it fails
   */
  async createTables(): Promise<void> {
    const { createTables } = await import("./migrate/schema.ts");
    await createTables(this.#connection, this.#tables);
  }

  /**
   * Compares the tables of the database with the models: columns, types, nullability, keys, unique
   * columns, indexes, references, and columns that the models lack and rows need. A type differs if
   * it could lose or misread a value of the field. Of a view, and of a model without a key, only
   * columns and types are compared.
   *
   * @throws {DbError} `Database`, whose message has a line for each difference; or if the
   * database cannot be read
   */
  async checkTables(): Promise<void> {
    const { checkTables } = await import("./migrate/check_tables.ts");
    await checkTables(this.#connection, this.#tables);
  }

  /** The tables of the models, for `diffSchema`. */
  get "~tables"(): readonly unknown[] {
    return this.#tables;
  }

  /**
   * Checks that the database answers, for health indicators; within `acquireTimeoutMs`.
   *
   * @throws {DbError} if it does not
   */
  async ping(): Promise<void> {
    await this.#connection.ping();
  }

  /**
   * Returns how many connections are in use, idle and waited for, for metrics:
   * `app.enableMetrics("/metrics", { pools: [app.get(Db)] })`. On SQLite, and with `fromDialect`,
   * the number of idle connections is unknown.
   */
  poolUsage(): PoolUsage {
    return this.#connection.usage;
  }

  /** Returns the usage of the pool of the database and of those of its read replicas. */
  poolUsages(): readonly PoolUsage[] {
    return this.#connection.usages;
  }

  /**
   * Closes the database, after waiting up to 10 s for operations in progress; later operations fail
   * with `PoolClosed`.
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
