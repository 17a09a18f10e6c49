/**
 * Transactions that whatever runs inside them joins.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection, type QueryResult } from "kysely";
import { dbError } from "./errors.ts";

/** How much of concurrent transactions one sees; SQLite's are always serializable. */
export type IsolationLevel =
  | "read uncommitted"
  | "read committed"
  | "repeatable read"
  | "serializable";

/** How a transaction is run. */
export interface TransactionOptions {
  /** The isolation level; the database's default unless given. */
  readonly isolation?: IsolationLevel | undefined;
  /**
   * How often to begin anew after a serialization failure or a deadlock; 0 by default. The waits
   * between grow from about 10 ms to 1 s. What the function did outside the database is not undone.
   */
  readonly retries?: number | undefined;
}

/** The connection of an open transaction, which remembers whether a statement failed. */
export class TransactionConnection {
  readonly #connection: DatabaseConnection;
  #failure: { readonly error: unknown } | undefined;
  #savepoints = 0;

  /** Takes over a connection with an open transaction. */
  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  /** The first failure of a statement that was not undone by a savepoint. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure;
  }

  /** Runs a query. */
  async run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return await this.noting(() => this.#connection.executeQuery<R>(query));
  }

  /** Runs a query and gives its rows in chunks. */
  stream<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery<R>(query, chunkSize);
  }

  /** Runs something on the connection, and notes if it fails. */
  async noting<T>(run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  /** Sets a savepoint. */
  async savepoint(): Promise<Savepoint> {
    const savepoint = { name: `fw_${++this.#savepoints}`, failure: this.#failure };
    await this.run(CompiledQuery.raw(`savepoint ${savepoint.name}`));
    return savepoint;
  }

  /** Keeps what was done since a savepoint. */
  async release({ name }: Savepoint): Promise<void> {
    await this.run(CompiledQuery.raw(`release savepoint ${name}`));
  }

  /** Undoes what was done since a savepoint, failures included. */
  async rollBackTo({ name, failure }: Savepoint): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw(`rollback to savepoint ${name}`));
    this.#failure = failure;
    await this.release({ name, failure });
  }
}

/** A point of a transaction to go back to. */
export interface Savepoint {
  /** Its name in SQL. */
  readonly name: string;
  /** What had failed before. */
  readonly failure: { readonly error: unknown } | undefined;
}

/** One level of an open transaction: the whole of it, or what a nested call does. */
export class Transaction {
  /** The connection that all levels share. */
  readonly connection: TransactionConnection;
  #nested: Promise<void> | undefined;
  #hasEnded = false;

  /** Opens a level. */
  constructor(connection: TransactionConnection) {
    this.connection = connection;
  }

  /**
   * Waits until no nested transaction is under way: it would take this level's statements with it if
   * it were rolled back.
   *
   * @throws {TypeError} if this level has ended
   */
  async ready(action: string): Promise<void> {
    while (this.#nested) await this.#nested;
    if (this.#hasEnded) {
      throw new TypeError(`Cannot ${action}: its transaction has ended, which did not await it`);
    }
  }

  /** Runs a function with a level of its own, which is undone if it fails. */
  async nest<T>(run: (nested: Transaction) => Promise<T>): Promise<T> {
    await this.ready("begin nested transaction");
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#nested = promise;
    try {
      const savepoint = await this.connection.savepoint();
      const nested = new Transaction(this.connection);
      try {
        const result = await run(nested);
        await nested.end();
        await this.connection.release(savepoint);
        return result;
      } catch (error) {
        await nested.end();
        await this.connection.rollBackTo(savepoint).catch(() => {});
        throw error;
      }
    } finally {
      this.#nested = undefined;
      resolve();
    }
  }

  /** Ends the level, after what is nested in it. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    while (this.#nested) await this.#nested;
  }
}

/**
 * Refuses to commit what a failed statement has doomed: the database would roll back in silence.
 *
 * @throws {DbError} `Database`, with the statement's failure as its cause
 */
export function checkNotDoomed({ failure }: TransactionConnection): void {
  if (failure) {
    throw dbError("commit transaction", { code: "Database" }, failure.error);
  }
}

/** Waits before the next attempt of a transaction: longer each time, and not all alike. */
export async function backOff(attempt: number): Promise<void> {
  const mostMs = Math.min(1000, 10 * 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, mostMs * (0.5 + Math.random() / 2)));
}
