/**
 * Transactions that whatever runs inside them joins.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection, type QueryResult } from "kysely";
import { DbError } from "./errors.ts";

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

/** A point of a transaction to go back to. */
export interface Savepoint {
  /** Its name in SQL. */
  readonly name: string;
  /** What had doomed the transaction before. */
  readonly doom: Doom | undefined;
}

/** Why a transaction cannot be committed. */
interface Doom {
  readonly error: unknown;
}

/** The connection of an open transaction. */
export class TransactionConnection {
  readonly #connection: DatabaseConnection;
  readonly #dooms: (error: unknown) => boolean;
  #doom: Doom | undefined;
  #savepoints = 0;

  /** Takes over a connection with an open transaction, and what tells whether an error dooms it. */
  constructor(connection: DatabaseConnection, dooms: (error: unknown) => boolean) {
    this.#connection = connection;
    this.#dooms = dooms;
  }

  /**
   * Refuses to go on after a failure that dooms the transaction. The database would roll it back in
   * silence when it is to be committed, or by then have forgotten that there is one.
   *
   * @throws {DbError} `Database`, with the failure as its cause
   */
  checkNotDoomed(action: string): void {
    if (!this.#doom) return;
    const message = `Cannot ${action}: an earlier statement of its transaction failed`;
    throw new DbError("Database", message, { cause: this.#doom.error });
  }

  /** Runs a query. */
  run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.noting(() => this.#connection.executeQuery<R>(query));
  }

  /** Runs a query and gives its rows in chunks. */
  async *stream<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    try {
      yield* this.#connection.streamQuery<R>(query, chunkSize);
    } catch (error) {
      throw this.#note(error);
    }
  }

  /** Runs something on the connection, and notes if it fails. */
  async noting<T>(run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.#note(error);
    }
  }

  /** Sets a savepoint. */
  async savepoint(): Promise<Savepoint> {
    const savepoint = { name: `fw_${++this.#savepoints}`, doom: this.#doom };
    await this.run(CompiledQuery.raw(`savepoint ${savepoint.name}`));
    return savepoint;
  }

  /** Keeps what was done since a savepoint. */
  async release({ name }: Savepoint): Promise<void> {
    await this.run(CompiledQuery.raw(`release savepoint ${name}`));
  }

  /** Undoes what was done since a savepoint, failures included. */
  async rollBackTo(savepoint: Savepoint): Promise<void> {
    await this.run(CompiledQuery.raw(`rollback to savepoint ${savepoint.name}`));
    this.#doom = savepoint.doom;
    await this.release(savepoint);
  }

  #note(error: unknown): unknown {
    if (!this.#doom && this.#dooms(error)) this.#doom = { error };
    return error;
  }
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
   * The end of the nested transactions under way, if there are any. This level's statements must wait
   * for it: one that is rolled back would take them with it.
   */
  get nested(): Promise<void> | undefined {
    return this.#nested;
  }

  /**
   * Refuses to go on with a level that has ended, or is doomed.
   *
   * @throws {TypeError} if it has ended
   * @throws {DbError} `Database` if it is doomed
   */
  check(action: string): void {
    if (this.#hasEnded) {
      throw new TypeError(`Cannot ${action}: its transaction has ended, which did not await it`);
    }
    this.connection.checkNotDoomed(action);
  }

  /** Runs a function with a level of its own, after those before it; it is undone if it fails. */
  async nest<T>(run: (nested: Transaction) => Promise<T>): Promise<T> {
    const before = this.#nested;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = before ? before.then(() => promise) : promise;
    this.#nested = end;
    try {
      await before;
      this.check("begin nested transaction");
      const savepoint = await this.connection.savepoint();
      const nested = new Transaction(this.connection);
      try {
        const result = await run(nested);
        await nested.end();
        this.connection.checkNotDoomed("commit nested transaction");
        await this.connection.release(savepoint);
        return result;
      } catch (error) {
        await nested.end();
        await this.connection.rollBackTo(savepoint).catch(() => {});
        throw error;
      }
    } finally {
      resolve();
      if (this.#nested === end) this.#nested = undefined;
    }
  }

  /** Ends the level, after what is nested in it. */
  async end(): Promise<void> {
    while (this.#nested) await this.#nested;
    this.#hasEnded = true;
  }
}

/** Waits before the next attempt of a transaction: longer each time, and not all alike. */
export async function backOff(attempt: number): Promise<void> {
  const mostMs = Math.min(1000, 10 * 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, mostMs * (0.5 + Math.random() / 2)));
}
