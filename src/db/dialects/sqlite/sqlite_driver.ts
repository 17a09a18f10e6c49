/**
 * SQLite through `node:sqlite`, which Deno, Node and Bun have built in.
 *
 * @module
 */
import {
  type Dialect as KyselyDialect,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import type { DatabaseSync } from "node:sqlite";
import { BoundedMap } from "../../../platform/bounded_map.ts";
import { type Dialect, withDriver } from "../../connection/dialect.ts";
import type { Statement, StatementResult } from "../../connection/statement.ts";
import { SQLITE } from "./sqlite.ts";
import { openError } from "./sqlite_errors.ts";
import { kyselyDatabase, type PreparedStatement, prepareStatement } from "./sqlite_statement.ts";

const BUSY_TIMEOUT_MS = 5000;
const PRAGMAS = [
  `pragma busy_timeout = ${BUSY_TIMEOUT_MS}`,
  "pragma foreign_keys = on",
  "pragma journal_mode = wal",
];
/** At most 1024 prepared statements, and fewer where their SQL is long. */
const MAX_WEIGHT = 1_048_576;

/**
 * Begins each transaction as a writer: one that reads first could not write after another
 * process has written.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync, config: SqliteDialectConfig) {
    super(config);
    this.#database = database;
  }

  /** Waits for another writer without blocking this process, which may be the writer. */
  override async beginTransaction(): Promise<void> {
    await onceFree(() => this.#beginNow());
  }

  #beginNow(): void {
    const run = (sql: string) => this.#database.prepare(sql).all();
    run("pragma busy_timeout = 0");
    try {
      run("begin immediate");
    } finally {
      run(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }
}

/** An open SQLite database: one connection, and one more that reads while a transaction is open. */
export class Sqlite implements Dialect {
  /** SQLite's SQL. */
  readonly grammar = SQLITE;
  /** Kysely's dialect, over this connection. */
  readonly kysely: KyselyDialect;
  /** Writers wait for each other. */
  readonly poolMax = 1;
  /** Transactions begin as writers. */
  readonly transactionsLock = true;
  readonly #writer: SqliteConnection;
  readonly #openReader: (() => DatabaseSync) | undefined;
  #reader: SqliteConnection | undefined;

  /** Takes over an open database, and the function that opens it again for reading. */
  constructor(database: DatabaseSync, openReader?: () => DatabaseSync) {
    this.#writer = new SqliteConnection(database);
    this.#openReader = openReader;
    const config = { database: kyselyDatabase(database) };
    this.kysely = withDriver(
      new SqliteDialect(config),
      () => new ImmediateDriver(database, config),
    );
  }

  /**
   * Runs at once unless a transaction is open, which the statement would become part of; then a
   * statement that only reads is run on the second connection, and reads the last commit.
   */
  runNow(statement: Statement, inTransaction: boolean): StatementResult | undefined {
    // Undefined on older versions of Node.
    if (inTransaction || this.#writer.database.isTransaction === false) {
      return this.#writer.run(statement);
    }
    if (!statement.reads || !this.#openReader) return undefined;
    this.#reader ??= new SqliteConnection(this.#openReader());
    return this.#reader.run(statement);
  }

  /** Whether the transaction is open: a trigger or a conflict may have rolled it back. */
  isTransactionOpen(): boolean | undefined {
    return this.#writer.database.isTransaction;
  }

  /** Runs all statements of a script. */
  runScript(script: string): Promise<void> {
    this.#writer.database.exec(script);
    return Promise.resolve();
  }

  /** Closes the file. */
  close(): void {
    this.#reader?.close();
    this.#writer.close();
  }
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
 * enforced, a file is in WAL mode, and a statement waits up to 5 s for another process to finish
 * writing, which blocks this process, as `node:sqlite` is synchronous.
 *
 * @throws {DbError} `ConnectionLost` if the file cannot be opened, `Database` if it is
 * not a database
 */
export async function openSqlite(path: string): Promise<Sqlite> {
  const { DatabaseSync } = await import("node:sqlite");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    // Not exec(): on Deno its errors have no result code.
    for (const pragma of PRAGMAS) await setPragma(database, pragma);
    if (path === ":memory:") return new Sqlite(database);
    return new Sqlite(database, () => new DatabaseSync(path, { readOnly: true }));
  } catch (error) {
    database?.close();
    throw openError(path, error);
  }
}

/**
 * Sets a pragma. The WAL mode needs exclusive access to the file, for which SQLite does not wait.
 */
function setPragma(database: DatabaseSync, pragma: string): Promise<void> {
  return onceFree(() => void database.prepare(pragma).all());
}

/** Runs a function that another process may block, for at most the time that a statement waits. */
async function onceFree(run: () => void): Promise<void> {
  const endsAt = performance.now() + BUSY_TIMEOUT_MS;
  for (let waitMs = 1;; waitMs = Math.min(2 * waitMs, 50)) {
    try {
      return run();
    } catch (error) {
      const isBusy = SQLITE.explain(error).code === "PoolTimeout";
      if (!isBusy || performance.now() > endsAt) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
