/**
 * Statements of `node:sqlite`, their wait for another writer, and the shim that Kysely's
 * `SqliteDialect` drives them through.
 *
 * @module
 */
import {
  CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  type SqliteDatabase,
} from "kysely";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { DriverRow, StatementResult } from "../../connection/statement.ts";
import { TransactionState } from "../../transaction/transaction_state.ts";
import { storableBytes } from "./sqlite.ts";
import { explainSqliteError } from "./sqlite_errors.ts";

const MAX_WAIT_MS = 50;

/** A method that older types of `node:sqlite` lack. */
interface ReturnsArrays {
  setReturnArrays(enabled: boolean): void;
}

/** A prepared statement. */
export interface PreparedStatement {
  /** Its SQL. */
  readonly sql: string;
  /** Runs it with encoded values. */
  readonly run: (parameters: readonly unknown[]) => StatementResult;
}

/** Prepares a statement. It reads arrays, which are faster than objects. */
export function prepareStatement(database: DatabaseSync, sql: string): PreparedStatement {
  const statement = prepare(database, sql) as StatementSync & ReturnsArrays;
  if (statement.columns().length === 0) {
    const run = (parameters: readonly unknown[]) => {
      const { changes } = statement.run(...parameters as SQLInputValue[]);
      return { rows: [], affectedRows: Number(changes) };
    };
    return { sql, run };
  }
  statement.setReturnArrays(true);
  const run = (parameters: readonly unknown[]) => {
    // The types of node:sqlite ignore setReturnArrays; codecs return values that SQLite stores.
    const rows = statement.all(...parameters as SQLInputValue[]) as unknown as DriverRow[];
    return { rows, affectedRows: rows.length };
  };
  return { sql, run };
}

/**
 * Adapts a connection to Kysely. Each query is prepared again: on some runtimes a prepared
 * `select *` would not include new columns.
 */
export function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = prepare(database, sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...parameters.map(bindable)).map(withNumbers),
        run: (parameters) => statement.run(...parameters.map(bindable)),
        *iterate(parameters) {
          for (const row of statement.iterate(...parameters.map(bindable))) yield withNumbers(row);
        },
      };
    },
  };
}

/** The limits of a wait. */
export interface WaitLimits {
  /** How long it may take, in milliseconds. */
  readonly limitMs: number;
  /** Whether nobody waits any longer. */
  readonly isGivenUp?: () => boolean;
}

/** Checks whether another writer locks the file; then a statement has had no effect. */
export function isLocked(error: unknown): boolean {
  return explainSqliteError(error).code === "PoolTimeout";
}

/**
 * Runs a function that another writer may lock out, again and again. It does not block the process,
 * which may be that writer: SQLite's own wait would.
 */
export async function onceFree<T>(
  run: () => T | Promise<T>,
  { limitMs, isGivenUp = () => false }: WaitLimits,
): Promise<T> {
  const endsAtMs = performance.now() + limitMs;
  for (let waitMs = 1;; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    try {
      return await run();
    } catch (error) {
      if (!isLocked(error) || performance.now() > endsAtMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (isGivenUp()) throw error;
    }
  }
}

/** What a connection of Kysely checks after its queries. */
export interface WaitingConnectionOptions {
  /** How long a query waits for other writers. */
  readonly limits: WaitLimits;
  /** Fails if what a query has written is lost. */
  readonly checkWritten: () => void;
  /** Whether a transaction is open; `undefined` on older versions of Node. */
  readonly isTransactionOpen: () => boolean | undefined;
}

/** A connection of Kysely whose queries wait for other writers. */
export class WaitingConnection implements DatabaseConnection {
  /** What the statements of its user have done to its transaction. */
  readonly transaction = new TransactionState();
  /** How long its caller has waited for it, in milliseconds; the first query waits less. */
  waitedMs = 0;
  /** Ends the wait of the last query. */
  #giveUp: (() => void) | undefined;
  readonly #connection: DatabaseConnection;
  readonly #options: WaitingConnectionOptions;

  /** Wraps a connection. */
  constructor(connection: DatabaseConnection, options: WaitingConnectionOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Runs a query. */
  async executeQuery<R>(given: CompiledQuery): Promise<QueryResult<R>> {
    const { transaction } = this;
    const isOwn = transaction.before(given.sql, given.parameters);
    const query = isOwn ? CompiledQuery.raw(given.sql) : given;
    const { limits, checkWritten, isTransactionOpen } = this.#options;
    const limitMs = limits.limitMs - this.waitedMs;
    this.waitedMs = 0;
    let isGivenUp = false;
    this.#giveUp = () => void (isGivenUp = true);
    const wait = { limitMs, isGivenUp: () => isGivenUp };
    const result = await onceFree(() => this.#connection.executeQuery<R>(query), wait);
    const writes = query.query.kind !== "SelectQueryNode" && query.sql !== "rollback";
    if (writes) checkWritten();
    const failure = transaction.after(isTransactionOpen());
    if (failure) throw failure;
    return result;
  }

  /** Ends the wait of a query, which then does not run. */
  cancelQuery(): Promise<void> {
    this.#giveUp?.();
    return Promise.resolve();
  }

  /** Runs a query, and yields its rows. */
  streamQuery<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery<R>(query, chunkSize);
  }
}

/**
 * Converts a value to one that SQLite stores: a boolean becomes 1 or 0. Rejects values that
 * `node:sqlite` would reject, or read as named parameters and bind as NULL, such as a date.
 *
 * @throws {TypeError} if SQLite has no such value
 */
function bindable(value: unknown): SQLInputValue {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value;
    case "boolean":
      return Number(value);
  }
  if (value === null) return value;
  if (value instanceof Uint8Array) return storableBytes(value);
  throw new TypeError(`Cannot bind ${typeof value}: SQLite stores null, numbers, text and bytes`);
}

/** Reads integers as bigints: as numbers they would throw beyond 2^53. */
function prepare(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

/** Returns a plain row, its integers as numbers where a number is exact. */
function withNumbers(row: unknown): unknown {
  return Object.fromEntries(
    Object.entries(row as object).map(([name, value]) => [name, exactNumber(value)]),
  );
}

function exactNumber(value: unknown): unknown {
  const number = Number(value);
  return typeof value === "bigint" && Number.isSafeInteger(number) ? number : value;
}
