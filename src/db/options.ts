/**
 * The options of a database.
 *
 * @module
 */
import type { Dialect as KyselyDialect } from "kysely";
import { readEnv } from "../platform/env.ts";
import { MAX_DELAY_MS } from "../platform/time_limit.ts";
import { DbConnection, type OpenDatabase } from "./connection/connection.ts";
import { DEFAULT_LIMITS, type OpenOptions } from "./connection/pool_limits.ts";
import { checkTimeLimit } from "./transaction/time_limits.ts";
import { type DbSettings, readUrl } from "./db_settings.ts";
import { brandOf } from "./dialects/kysely_brand.ts";
import {
  migrationMap,
  type Migrations,
  type MigrationSource,
  type UnmigratedDatabase,
} from "./migrate/migrations.ts";

/**
 * The options of a database. Immutable: each method returns new options. The URL, which may contain
 * a password, is never printed.
 *
 * @example
 * ```ts
 * import { DbOptions } from "@fw/fw/db";
 *
 * const options = DbOptions.fromUrl("sqlite:data.sqlite").schemaPath("migrations");
 * ```
 */
export class DbOptions {
  readonly #settings: DbSettings;

  private constructor(settings: DbSettings) {
    this.#settings = settings;
  }

  /**
   * Reads a database URL, whose driver is loaded when the database is opened:
   * - `postgresql://user:password@host:5432/database`, or `postgres:`, through `postgres`;
   * - `mysql://user:password@host:3306/database`, or `mariadb:`, through `mysql2`;
   * - `sqlite:<file path>`, with a relative path seen from the working directory, or
   *   `sqlite::memory:` for a new database that ends with its connection, through `node:sqlite`.
   *
   * Parameters of servers, such as `?sslmode=verify-full`, are those that PostgreSQL, MySQL and
   * hosts of databases document; the methods of the options take precedence over them.
   *
   * @throws {TypeError} if the URL is malformed or of another database, or if a parameter is
   * unknown, invalid or contradicts another
   */
  static fromUrl(url: string): DbOptions {
    return new DbOptions({ ...readUrl(url), beside: url });
  }

  /**
   * Reads the URL from `DATABASE_URL`.
   *
   * @throws {TypeError} if it is not set, or as {@linkcode DbOptions.fromUrl} does
   */
  static fromEnv(): DbOptions {
    const url = readEnv("DATABASE_URL");
    if (!url) throw new TypeError("Cannot read DATABASE_URL: it is not set");
    return DbOptions.fromUrl(url);
  }

  /**
   * Takes a Kysely dialect of PostgreSQL, SQLite or MySQL with any driver, such as those of D1,
   * libSQL, Neon and PlanetScale. The driver must read a whole number beyond 2^53 as a bigint or
   * text, and the times of MySQL as UTC (with `mysql2`, set `supportBigNumbers: true` and
   * `timezone: "Z"`), in sessions whose time zone is UTC too; closing the database closes it.
   *
   * @throws {TypeError} if it is of another database
   */
  static fromDialect(dialect: KyselyDialect): DbOptions {
    const brand = brandOf(dialect);
    const open = async () =>
      (await import("./dialects/kysely_dialect.ts")).openKysely(dialect, brand);
    const beside = brand === "SQLite" && { beside: "sqlite::memory:" };
    return new DbOptions({ open, ...beside });
  }

  /**
   * Sets the URLs of read replicas, which answer the reads of repositories outside transactions. A
   * request that writes, or runs a transaction, reads from the database itself from then on, and
   * `primary()` of a `DbService` always does. Kysely, transactions and migrations use no replica.
   * One that cannot be reached is left out for 10 s at a time; its reads go to the others, or to
   * the database itself.
   *
   * The other options are those of each replica too: its pool has `poolMax` connections of its own.
   * A parameter of its URL takes precedence for it.
   *
   * @throws {TypeError} if the database is not one of PostgreSQL or MySQL by its URL, or a URL is
   * malformed, or of another database
   */
  replicas(urls: readonly string[]): DbOptions {
    const { brand } = this.#settings;
    if (!brand) {
      throw new TypeError("Cannot add replicas: only the URLs of PostgreSQL and MySQL have them");
    }
    const replicas = urls.map((url) => readUrl(url));
    const other = replicas.find((replica) => replica.brand !== brand);
    if (other) {
      throw new TypeError(`Cannot add replicas: one is not a database of ${brand}`);
    }
    return new DbOptions({ ...this.#settings, replicas });
  }

  /**
   * Sets how many connections are opened at boot and kept open; 0 by default. Others are closed
   * after a minute without use. SQLite always has one.
   *
   * @throws {RangeError} if it is not a whole number of 0 or more
   */
  poolMin(connections: number): DbOptions {
    return this.#withOpening({ min: checkLimit(connections, 0) });
  }

  /**
   * Sets how many connections are open at most; 10 by default. SQLite always has one, and one more
   * to read.
   *
   * @throws {RangeError} if it is not a whole number of 1 or more
   */
  poolMax(connections: number): DbOptions {
    return this.#withOpening({ max: checkLimit(connections, 1) });
  }

  /**
   * Sets how long an operation waits for a connection before it fails with `PoolTimeout`, and a new
   * connection for the server; 10 000 ms by default.
   *
   * @throws {RangeError} if it is not a whole number of 1 to 2^31 - 1
   */
  acquireTimeoutMs(milliseconds: number): DbOptions {
    if (milliseconds > MAX_DELAY_MS) {
      throw new RangeError(`Cannot limit pool: ${milliseconds} ms is over ${MAX_DELAY_MS}`);
    }
    const acquireTimeoutMs = checkLimit(milliseconds, 1);
    return this.#withOpening({ acquireTimeoutMs, connectTimeoutMs: acquireTimeoutMs });
  }

  /**
   * Sets how long a statement may take; 30 000 ms by default, `Infinity` is no limit. Then it is
   * cancelled on the server, and fails with `StatementTimeout`. Migrations have no limit, and
   * neither have statements of SQLite, which run inside the process.
   *
   * @throws {RangeError} if it is not positive and below 2^31
   */
  statementTimeoutMs(milliseconds: number): DbOptions {
    checkTimeLimit(milliseconds);
    return this.#withOpening({ statementTimeoutMs: milliseconds });
  }

  /**
   * Sets how long the function of a transaction may take; 60 000 ms by default, `Infinity` is no
   * limit. Then the transaction is rolled back, even if the function never ends, and fails with
   * `StatementTimeout`.
   *
   * @throws {RangeError} if it is not positive and below 2^31
   */
  transactionTimeoutMs(milliseconds: number): DbOptions {
    checkTimeLimit(milliseconds);
    return this.#withOpening({ transactionTimeoutMs: milliseconds });
  }

  /**
   * Sets the clock of `createdAt` and `updatedAt`, in milliseconds, such as a fixed one of tests;
   * `Date.now` by default. An operation reads it at most once.
   *
   * @throws {TypeError} if it is not a function
   */
  now(clock: () => number): DbOptions {
    if (typeof clock !== "function") {
      throw new TypeError("Cannot set now: it is not a function");
    }
    return this.#withOpening({ now: clock });
  }

  /**
   * Sets whether PostgreSQL prepares statements by name, which makes them faster. By default it
   * does, unless a pooler is in between (PgBouncer, or that of a hosted database), which may run
   * each transaction on another connection. A pooler of sessions, or one that keeps track of
   * prepared statements (PgBouncer 1.21, `max_prepared_statements`), can have `true`. The URL may
   * also end with `?prepare=true` or `?prepare=false`.
   */
  prepare(enabled: boolean): DbOptions {
    return this.#withOpening({ prepare: enabled });
  }

  /**
   * Sets the migrations that run when the database is opened: a folder of migrations, or a `.sql`
   * file, which is a single one; a relative path is resolved against the working directory. A
   * migration is `0001_name.sql`, or a module that exports `up`, a script or a function that takes
   * a Kysely. (`0001_name.down.sql`, or `down` of a module, rolls it back: `rollBack` of
   * `DbMigrations` runs it.) They run in the order of their numbers, once each, under a lock: of
   * several instances that start at once, one migrates. Files other than scripts, and modules whose
   * name begins with a number, are ignored; a folder may be empty. A folder that contains
   * `postgres`, `mysql` or `sqlite` has the migrations of each database in that one.
   *
   * PostgreSQL and SQLite run all pending migrations in one transaction: if one fails, all are
   * rolled back. MySQL keeps the migrations before the failure, and of a script the statements up
   * to the last that changes a schema. A script whose first line is `-- no transaction` runs
   * alone and outside a transaction, after those before it.
   */
  schemaPath(path: string): DbOptions {
    const migrations: MigrationSource = async (brand) => {
      const { readMigrations } = await import("./migrate/migration_files.ts");
      return await readMigrations(path, brand);
    };
    return new DbOptions({ ...this.#settings, migrations });
  }

  /**
   * Sets the migrations themselves, by name: for runtimes without files. See
   * {@linkcode DbOptions.schemaPath}.
   *
   * @throws {TypeError} if there are no migrations, a name does not begin with a number, two
   * numbers are equal or have different lengths, or one has no `up`
   */
  migrations(migrations: Migrations): DbOptions {
    return new DbOptions({ ...this.#settings, migrations: migrationMap(migrations) });
  }

  /**
   * Opens the database, and migrates it; `open` of a `DbService` calls it.
   *
   * @throws {RangeError} if the pool's minimum is over its maximum
   * @throws {TypeError} if the files of migrations are invalid
   * @throws {DbError} if the database cannot be opened, or a migration cannot be read or fails
   */
  async open(): Promise<OpenDatabase> {
    if ("Deno" in globalThis) await import("./lazy_parts.ts"); // before any transaction
    const { migrations, replicas: settings = [], opening } = this.#settings;
    const replicas = settings.length > 0
      ? new (await import("./connection/replicas.ts")).Replicas(
        settings.map((replica) => () =>
          connectTo({ ...replica, opening: { ...opening, ...replica.opening } })
        ),
      )
      : undefined;
    const connection = await connectTo(this.#settings, replicas);
    try {
      if (migrations) await (await import("./migrate/migrate.ts")).migrate(connection, migrations);
      return await replicas?.open(connection) ?? connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /**
   * Opens the database and runs no migration; `open` of `DbMigrations` calls it.
   *
   * @throws {TypeError} if `needsMigrations` is not `false`, and neither
   * {@linkcode DbOptions.schemaPath} nor {@linkcode DbOptions.migrations} was called
   * @throws {RangeError} if the pool's minimum is over its maximum
   * @throws {DbError} if the database cannot be opened
   */
  async openUnmigrated(
    { needsMigrations = true }: { readonly needsMigrations?: boolean } = {},
  ): Promise<UnmigratedDatabase> {
    const { migrations: source } = this.#settings;
    if (needsMigrations && !source) {
      throw new TypeError("Cannot open migrations: the options name none");
    }
    return { database: await connectTo(this.#settings), source };
  }

  /**
   * Creates an empty database and opens it, for tools that compare tables; closing it removes it.
   * It is on the same server, whose user must be allowed to create databases; for SQLite, it is in
   * memory.
   *
   * @throws {TypeError} if the server is known by a Kysely dialect only
   * @throws {DbError} if it cannot be created
   */
  async openTemporary(): Promise<UnmigratedDatabase> {
    const { beside, opening, migrations: source } = this.#settings;
    const { openTemporary } = await import("./migrate/diff/temporary_database.ts");
    const database = await openTemporary(
      beside,
      (url, after) => connectTo({ ...readUrl(url), opening }, after),
    );
    return { database, source };
  }

  #withOpening(changes: Partial<OpenOptions>): DbOptions {
    return new DbOptions({
      ...this.#settings,
      opening: { ...this.#settings.opening, ...changes },
    });
  }
}

async function connectTo(
  { open, opening }: DbSettings,
  after?: Pick<OpenDatabase, "close">,
): Promise<DbConnection> {
  const limits = { ...DEFAULT_LIMITS, ...opening };
  if (limits.min > limits.max) {
    throw new RangeError(
      `Cannot open database: poolMin ${limits.min} is over poolMax ${limits.max}`,
    );
  }
  return new DbConnection(await open(limits), {
    ...limits,
    closeOthers: () => after?.close(),
  });
}

function checkLimit(value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RangeError(`Cannot limit pool: ${value} is not a whole number of ${least} or more`);
}
