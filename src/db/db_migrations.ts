/**
 * The migrations of a database, for tools.
 *
 * @module
 */
import { DbConnection } from "./connection/connection.ts";
import type { MigrationStatus } from "./migrate/migration_status.ts";
import type { MigrationSource } from "./migrate/migrations.ts";
import type { DbOptions } from "./options.ts";

/** How far to roll back. */
export interface RollBackOptions {
  /** How many migrations to undo, a whole number of 1 or more; default that of `names`, or 1. */
  readonly steps?: number | undefined;
  /**
   * The migrations to undo, newest first, as they were chosen from `status()`: if others are the
   * last ones by then, none is undone. By default, they are chosen under the lock.
   */
  readonly names?: readonly string[] | undefined;
}

/**
 * The migrations of an open database, which run on request only: for tools, and for deployments
 * that migrate before they start. Concurrent calls run one after another; each reads the migrations
 * again (a module only once).
 *
 * @example
 * ```ts
 * import { DbMigrations, DbOptions } from "@fw/fw/db";
 *
 * const options = DbOptions.fromUrl("sqlite::memory:").migrations({
 *   "0001_users": { up: "create table users (id integer primary key)", down: "drop table users" },
 * });
 * await using migrations = await DbMigrations.open(options);
 * for (const { name, executedAt } of await migrations.status()) {
 *   console.log(name, executedAt?.toISOString() ?? "is due");
 * }
 * await migrations.migrate(); // ["0001_users"]
 * await migrations.rollBack(); // ["0001_users"]
 * ```
 */
export class DbMigrations {
  readonly #connection: DbConnection;
  readonly #source: MigrationSource;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(connection: DbConnection, source: MigrationSource) {
    this.#connection = connection;
    this.#source = source;
  }

  /**
   * Opens a database without running migrations. A missing SQLite file is created, and empty.
   *
   * @throws {TypeError} if the options name no migrations
   * @throws {RangeError} if the pool's minimum is over its maximum
   * @throws {DbError} if the database cannot be opened
   */
  static async open(options: DbOptions): Promise<DbMigrations> {
    const { database, source } = await options.openUnmigrated();
    // the connection is internal, so the type of an open database does not include it
    if (database instanceof DbConnection && source) return new DbMigrations(database, source);
    throw new TypeError("Cannot open migrations: the options are of another release");
  }

  /**
   * Returns all migrations in the order of their names, and whether they were run. Those that
   * the database has run and whose source is missing are included, as `isMissing`; those whose
   * script was edited since are `isEdited`. It changes
   * nothing in the database, and waits for no lock: migrations that another instance is running
   * are still pending.
   *
   * @throws {TypeError} if the migrations are invalid
   * @throws {DbError} if they cannot be read, or the database fails
   */
  status(): Promise<readonly MigrationStatus[]> {
    return this.#inTurn(async () => {
      const { migrationStatuses } = await import("./migrate/migration_status.ts");
      const { kysely, grammar: { brand } } = this.#connection;
      return await migrationStatuses(kysely, { migrations: await this.#source(brand), brand });
    });
  }

  /**
   * Runs the pending migrations, as opening a database does, and returns their names in the order
   * in which they ran; see {@linkcode DbOptions.schemaPath}. Of several instances that migrate at
   * once, one runs them.
   *
   * @throws {TypeError} if the migrations are invalid
   * @throws {DbError} if they cannot be read; `Database` if one fails, or an executed one is
   * missing or would come after a pending one. PostgreSQL and SQLite then roll all of them back,
   * MySQL keeps those before the failure, and of its script the statements up to the last that
   * changes a schema
   */
  migrate(): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      const { migrate } = await import("./migrate/migrate.ts");
      return await migrate(this.#connection, this.#source);
    });
  }

  /**
   * Rolls back the last executed migrations, newest first, and returns their names in that order:
   * fewer than `steps` if there are no more. If one of them has no `down`, none is rolled back. It
   * takes the lock of {@linkcode DbMigrations.migrate}; several instances that roll back at once
   * each roll back `steps` migrations, unless they name them.
   *
   * @throws {RangeError} if `steps` is not a whole number of 1 or more
   * @throws {TypeError} if one of them has no `down`, or the migrations are invalid
   * @throws {DbError} if they cannot be read; `Database` if one fails, an executed one is
   * missing or would come after a pending one, or the last ones are not those of `names`.
   * PostgreSQL and SQLite then roll back none of them,
   * MySQL those before the failure, and of its script the statements up to the last that
   * changes a schema
   */
  async rollBack(
    { names, steps = names?.length ?? 1 }: RollBackOptions = {},
  ): Promise<readonly string[]> {
    if (!Number.isSafeInteger(steps) || steps < 1) {
      throw new RangeError("Cannot roll back: steps is not a whole number of 1 or more");
    }
    return await this.#inTurn(async () => {
      const { rollBack } = await import("./migrate/roll_back.ts");
      return await rollBack(this.#connection, { source: this.#source, steps, names });
    });
  }

  /** Closes the database after earlier calls; later calls fail. */
  async close(): Promise<void> {
    await this.#inTurn(() => this.#connection.close());
  }

  /** Closes the database, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Runs one call after another: a connection's foreign keys are off while it migrates. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
