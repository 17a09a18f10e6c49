/**
 * SQLite through `node:sqlite`, which Deno, Node and Bun have built in.
 *
 * @module
 */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect as KyselyDialect,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import type { DatabaseSync } from "node:sqlite";
import { BoundedMap } from "../../../platform/bounded_map.ts";
import { type Dialect, withDriver } from "../../connection/dialect.ts";
import type { PoolLimits } from "../../connection/pool_limits.ts";
import type { Statement, StatementResult } from "../../connection/statement.ts";
import type { DatabasePlace } from "../../transaction/sql_span.ts";
import type { Execution } from "../../transaction/execution.ts";
import { markTransactions } from "../../transaction/transaction_state.ts";
import { SQLITE } from "./sqlite.ts";
import { openError } from "./sqlite_errors.ts";
import { SqliteFile } from "./sqlite_file.ts";
import {
  isLocked,
  kyselyDatabase,
  onceFree,
  type PreparedStatement,
  prepareStatement,
  WaitingConnection,
  type WaitLimits,
} from "./sqlite_statement.ts";

/** How long a script waits for another writer; it cannot be run again. */
const SCRIPT_WAIT_MS = 5000;
/** A statement fails at once if another writer locks the file: `onceFree` waits. */
const FAIL_AT_ONCE = "pragma busy_timeout = 0";
const PRAGMAS = [FAIL_AT_ONCE, "pragma foreign_keys = on", "pragma journal_mode = wal"];
/** At most 1024 prepared statements, and fewer where their SQL is long. */
const MAX_WEIGHT = 1_048_576;

/**
 * Begins each transaction as a writer: one that reads first could not write after another
 * process has written. No transaction stays open when its user releases the connection.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync;
  readonly #options: SqliteOptions;

  constructor(database: DatabaseSync, config: SqliteDialectConfig, options: SqliteOptions) {
    super(config);
    this.#database = database;
    this.#options = options;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const { limits, file } = this.#options;
    file?.check("read");
    return new WaitingConnection(await super.acquireConnection(), {
      limits,
      checkWritten: () => checkWritten(this.#database, this.#options),
      isTransactionOpen: () => this.#isTransactionOpen(),
    });
  }

  // deno-lint-ignore require-await -- its failure rejects
  override async releaseConnection(connection?: DatabaseConnection): Promise<void> {
    if (this.#isTransactionOpen() === true) this.#database.prepare("rollback").run();
    if (connection instanceof WaitingConnection) connection.transaction.release();
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite fails where a statement has ended the transaction.
    if (this.#isTransactionOpen() !== false) await super.rollbackTransaction(connection);
  }

  /** Returns `undefined` on older versions of Node; a closed database has none. */
  #isTransactionOpen(): boolean | undefined {
    return this.#database.isOpen === false ? false : this.#database.isTransaction;
  }
}

/** How a SQLite database is opened. */
export interface SqliteOptions {
  /** How long statements wait for other writers. */
  readonly limits: WaitLimits;
  /** The file; one in memory has none. */
  readonly file?: SqliteFile | undefined;
  /** The path of the file, as the URL has it. */
  readonly path?: string;
  /** Opens it again for reading. */
  readonly openReader?: (() => DatabaseSync) | undefined;
}

/** An open SQLite database: one connection, and one more that reads while a transaction is open. */
export class Sqlite implements Dialect {
  /** SQLite's SQL. */
  readonly grammar = SQLITE;
  /** Kysely's dialect, over this connection. */
  readonly kysely: KyselyDialect;
  /** The file, as the URL has it. */
  readonly place?: DatabasePlace;
  /** Writers wait for each other. */
  readonly poolMax = 1;
  /** Transactions begin as writers. */
  readonly transactionsLock = true;
  readonly #writer: SqliteConnection;
  readonly #options: SqliteOptions;
  #reader: SqliteConnection | undefined;

  /** Takes over an open database. */
  constructor(database: DatabaseSync, options: SqliteOptions) {
    this.#writer = new SqliteConnection(database);
    this.#options = options;
    if (options.path !== undefined) this.place = { namespace: options.path, pool: options.path };
    const config = { database: kyselyDatabase(database) };
    this.kysely = withDriver(
      new SqliteDialect(config),
      () => markTransactions(new ImmediateDriver(database, config, options)),
    );
  }

  /**
   * Runs at once unless a transaction is open, which the statement would become part of; then a
   * statement that only reads is run on the second connection, and reads the last commit. Returns
   * `undefined` too if another writer locks the file.
   */
  runNow(statement: Statement, inTransaction: boolean): StatementResult | undefined {
    const { file, openReader } = this.#options;
    file?.check("read");
    try {
      // Undefined on older versions of Node.
      if (inTransaction || this.#writer.database.isTransaction === false) {
        return this.#write(statement);
      }
      if (!statement.reads || !openReader) return undefined;
      this.#reader ??= new SqliteConnection(openReader());
      return this.#reader.run(statement);
    } catch (error) {
      if (isLocked(error)) return undefined;
      throw error;
    }
  }

  /** Runs a statement once no other writer locks the file, within the limits of the statement. */
  runFree(statement: Statement, execution: Execution): Promise<StatementResult> {
    let isGivenUp = false;
    execution.cancel = () => void (isGivenUp = true);
    const limitMs = this.#options.limits.limitMs - execution.waitedMs;
    return onceFree(() => this.#write(statement), { limitMs, isGivenUp: () => isGivenUp });
  }

  /** Takes note of how long the caller of a connection has waited for it. */
  waited(connection: DatabaseConnection, ms: number): void {
    if (connection instanceof WaitingConnection) connection.waitedMs = ms;
  }

  /** Whether the transaction is open: a trigger or a conflict may have rolled it back. */
  isTransactionOpen(): boolean | undefined {
    return this.#writer.database.isTransaction;
  }

  /** Runs all statements of a script; a wait for a writer, up to 5 s, blocks the process. */
  runScript(script: string): Promise<void> {
    if (script.includes("\0")) {
      throw new TypeError("Cannot run script: it has a NUL character, at which SQLite ends it");
    }
    const { database } = this.#writer;
    database.exec(`pragma busy_timeout = ${SCRIPT_WAIT_MS}`);
    try {
      database.exec(script);
    } finally {
      database.exec(FAIL_AT_ONCE);
    }
    return Promise.resolve();
  }

  /** Closes the file. */
  close(): void {
    this.#reader?.close();
    this.#writer.close();
  }

  #write(statement: Statement): StatementResult {
    const result = this.#writer.run(statement);
    if (!statement.reads) checkWritten(this.#writer.database, this.#options);
    return result;
  }
}

/** A write is not acknowledged if its file is gone; that of a transaction, when it commits. */
function checkWritten(database: DatabaseSync, { file }: SqliteOptions): void {
  if (database.isTransaction !== true) file?.check("write");
}

/** A connection, and its prepared statements. */
class SqliteConnection {
  readonly database: DatabaseSync;
  readonly #statements = new BoundedMap<string, PreparedStatement>({
    max: MAX_WEIGHT,
    weigh: ({ sql }) => Math.max(1024, sql.length),
  });

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  run({ sql, parameters }: Statement): StatementResult {
    return this.#statements.getOrInsertComputed(sql, () => prepareStatement(this.database, sql))
      .run(
        parameters,
      );
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }
}

/**
 * Opens a database file, which is created if it is missing, or `":memory:"`. Foreign keys are
 * enforced, a file is in WAL mode, and a statement waits for another writer to finish as long as
 * for a connection.
 *
 * @throws {DbError} `ConnectionLost` if the file cannot be opened, `Database` if it is
 * not a database
 */
export async function openSqlite(
  path: string,
  { acquireTimeoutMs: limitMs }: PoolLimits,
): Promise<Sqlite> {
  const [{ DatabaseSync }, { statSync }, { resolve }] = await Promise.all([
    import("node:sqlite"),
    import("node:fs"),
    import("node:path"),
  ]);
  const limits: WaitLimits = { limitMs };
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    // Not exec(): on Deno its errors have no result code. The WAL mode needs exclusive access to
    // the file, for which SQLite does not wait.
    for (const pragma of PRAGMAS) {
      await onceFree(() => void database!.prepare(pragma).all(), limits);
    }
    if (path === ":memory:") return new Sqlite(database, { limits, path });
    const absolute = resolve(path);
    return new Sqlite(database, {
      path,
      limits,
      file: new SqliteFile(() => statSync(absolute, { bigint: true })),
      openReader: () => new DatabaseSync(absolute, { readOnly: true }),
    });
  } catch (error) {
    database?.close();
    throw openError(path, error);
  }
}
