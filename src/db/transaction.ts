/**
 * Transactions that whatever runs inside them joins.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection, type QueryResult } from "kysely";
import { DbError, type DbErrorCode, type DbFailure } from "./errors.ts";

/** How much of concurrent transactions one sees; SQLite's are always serializable. */
export type IsolationLevel =
  | "read uncommitted"
  | "read committed"
  | "repeatable read"
  | "serializable";

/** The isolation levels, the strictest last. */
export const ISOLATION_LEVELS: readonly IsolationLevel[] = [
  "read uncommitted",
  "read committed",
  "repeatable read",
  "serializable",
];

/** How a transaction is run. */
export interface TransactionOptions {
  /**
   * The isolation level; the database's default unless given. A nested transaction has that of the
   * outer one, and cannot ask for more.
   */
  readonly isolation?: IsolationLevel | undefined;
  /**
   * How often to begin anew after a serialization failure or a deadlock; 0 by default. The waits
   * between grow from about 10 ms to 1 s. What the function did outside the database is not undone.
   * It is the outermost transaction that begins anew.
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
  readonly code: DbErrorCode;
  readonly error: unknown;
}

/** What errors mean. */
export interface FailureRules {
  /** Says what an error of a statement means. */
  readonly explain: (error: unknown) => DbFailure;
  /** Tells whether a failed statement dooms its transaction. */
  readonly dooms: (failure: DbFailure) => boolean;
}

/** The failures that the same transaction might not meet again. */
const PASSING: readonly DbErrorCode[] = ["SerializationFailure", "ConnectionLost", "PoolTimeout"];

/** The connection of an open transaction. */
export class TransactionConnection {
  readonly #connection: DatabaseConnection;
  readonly #explain: (error: unknown) => DbFailure;
  readonly #dooms: (failure: DbFailure) => boolean;
  #doom: Doom | undefined;
  #savepoints = 0;

  /** Takes over a connection with an open transaction, and what tells what an error means. */
  constructor(connection: DatabaseConnection, { explain, dooms }: FailureRules) {
    this.#connection = connection;
    this.#explain = explain;
    this.#dooms = dooms;
  }

  /**
   * Refuses to go on after a failure that dooms the transaction. The database would roll it back in
   * silence when it is to be committed, or by then have forgotten that there is one.
   *
   * @throws {DbError} with the failure as its cause; `Database`, unless to begin anew may help
   */
  checkNotDoomed(action: string): void {
    if (!this.#doom) return;
    const { code, error } = this.#doom;
    const message = `Cannot ${action}: an earlier statement of its transaction failed`;
    throw new DbError(code, message, { cause: error });
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

  /** Takes note that what doomed the transaction was undone by a savepoint that others set. */
  revive(): void {
    this.#doom = undefined;
  }

  #note(error: unknown): unknown {
    const failure = this.#explain(error);
    if (!this.#doom && this.#dooms(failure)) {
      this.#doom = { code: PASSING.includes(failure.code) ? failure.code : "Database", error };
    }
    return error;
  }
}

/** One level of an open transaction: the whole of it, or what a nested call does. */
export class Transaction {
  /** The connection that all levels share. */
  readonly connection: TransactionConnection;
  /** The isolation of all levels. */
  readonly isolation: IsolationLevel;
  #nested: Promise<void> | undefined;
  #pending = 0;
  #hasEnded = false;

  /** Opens a level. */
  constructor(connection: TransactionConnection, isolation: IsolationLevel) {
    this.connection = connection;
    this.isolation = isolation;
  }

  /**
   * The end of the nested transactions under way, if there are any. This level's statements must wait
   * for it: one that is rolled back would take them with it.
   */
  get nested(): Promise<void> | undefined {
    return this.#nested;
  }

  /** Whether it has ended: its connection may be another transaction's by now. */
  get hasEnded(): boolean {
    return this.#hasEnded;
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

  /** Takes note of work on this level until it is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    try {
      return await work();
    } finally {
      this.#pending -= 1;
    }
  }

  /**
   * Refuses to commit while work is under way: some of it would be part of the transaction, and some
   * not.
   *
   * @throws {TypeError} if the level's function began work that it did not await
   */
  checkAwaited(action: string): void {
    if (this.#pending === 0) return;
    throw new TypeError(`Cannot ${action}: its function did not await what it began`);
  }

  /** Runs a function with a level of its own, after those before it; it is undone if it fails. */
  async nest<T>(
    run: (nested: Transaction) => Promise<T>,
    wordError: (error: unknown) => Error,
  ): Promise<T> {
    return await this.during(() => this.#nest(run, wordError));
  }

  /** Ends the level, after what is nested in it. */
  async end(): Promise<void> {
    while (this.#nested) await this.#nested;
    this.#hasEnded = true;
  }

  async #nest<T>(
    run: (nested: Transaction) => Promise<T>,
    wordError: (error: unknown) => Error,
  ): Promise<T> {
    async function wording<V>(work: Promise<V>): Promise<V> {
      try {
        return await work;
      } catch (error) {
        throw wordError(error);
      }
    }
    const before = this.#nested;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = before ? before.then(() => promise) : promise;
    this.#nested = end;
    try {
      await before;
      this.check("begin nested transaction");
      const savepoint = await wording(this.connection.savepoint());
      const nested = new Transaction(this.connection, this.isolation);
      try {
        const result = await run(nested);
        nested.checkAwaited("commit nested transaction");
        await nested.end();
        this.connection.checkNotDoomed("commit nested transaction");
        await wording(this.connection.release(savepoint));
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
}

/** Waits before the next attempt of a transaction: longer each time, and not all alike. */
export async function backOff(attempt: number): Promise<void> {
  const mostMs = Math.min(1000, 10 * 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, mostMs * (0.5 + Math.random() / 2)));
}
