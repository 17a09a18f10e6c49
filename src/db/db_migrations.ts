/**
 * The migrations of a database, for tools.
 *
 * @module
 */
import { DbConnection } from "./connection/connection.ts";
import { migrate, type MigrationStatus, migrationStatuses, rollBack } from "./migrate/migrate.ts";
import type { MigrationSource } from "./migrate/migrations.ts";
import type { DbOptions } from "./options.ts";

/** How far to roll back. */
export interface RollBackOptions {
  /** How many migrations to undo, a whole number of 1 or more; 1 by default. */
  readonly steps?: number | undefined;
}

/**
 * The migrations of an open database, which run on request only: for tools, and for deployments that
 * migrate before they start. Concurrent calls run one after another; each reads the migrations again
 * (a module only once).
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
    if (database instanceof DbConnection) return new DbMigrations(database, source);
    throw new TypeError("Cannot open migrations: the options are of another release");
  }

  /**
   * Reads all migrations and which were run, in the order of their names. Those that the database has
   * run and that are gone are among them, as `isMissing`. It changes nothing in the database, where
   * nothing need have been migrated yet, and waits for no lock: what another instance is running is
   * still due.
   *
   * @throws {TypeError} if the migrations are invalid
   * @throws {DbError} if they cannot be read, or the database fails
   */
  status(): Promise<readonly MigrationStatus[]> {
    return this.#inTurn(async () =>
      await migrationStatuses(this.#connection.kysely, await this.#source())
    );
  }

  /**
   * Runs the migrations that are due as opening a database does, and gives their names in the order in
   * which they were run; see {@linkcode DbOptions.schemaPath}. Of several instances that do so at once,
   * one runs them.
   *
   * @throws {TypeError} if the migrations are invalid
   * @throws {DbError} if they cannot be read; `Database` if one fails, or one that was run is gone or
   * would come after one that was not. PostgreSQL and SQLite then have done none, MySQL has all that
   * came before the failing statement
   */
  migrate(): Promise<readonly string[]> {
    return this.#inTurn(() => migrate(this.#connection, this.#source));
  }

  /**
   * Undoes the migrations that were run last, newest first, and gives their names in that order: fewer
   * than `steps` if there are no more, and none if nothing was run. If one of them has no `down`, none
   * is undone. It takes the lock of {@linkcode DbMigrations.migrate}; several instances that roll back
   * at once each undo their own.
   *
   * @throws {RangeError} if `steps` is not a whole number of 1 or more
   * @throws {TypeError} if one of them has no `down`, or the migrations are not sound
   * @throws {DbError} if they cannot be read; `Database` if one fails, or one that was run is gone or
   * would come after one that was not. PostgreSQL and SQLite then have undone none, MySQL all that
   * came before the failing statement
   */
  async rollBack({ steps = 1 }: RollBackOptions = {}): Promise<readonly string[]> {
    if (!Number.isSafeInteger(steps) || steps < 1) {
      throw new RangeError("Cannot roll back: steps is not a whole number of 1 or more");
    }
    return await this.#inTurn(() => rollBack(this.#connection, { source: this.#source, steps }));
  }

  /** Closes the database when what was called before is done; what is called later fails. */
  async close(): Promise<void> {
    await this.#inTurn(() => this.#connection.close());
  }

  /** Closes the database, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** A connection's foreign keys are off while it migrates: two at once would be in each other's way. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
