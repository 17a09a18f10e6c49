/**
 * Connections as Kysely uses them: that of an open transaction, and one of the pool.
 *
 * @module
 */
import type {
  CompiledQuery,
  ControlConnectionProvider,
  DatabaseConnection,
  QueryResult,
  TransactionSettings,
} from "kysely";
import { hasEnded, OpenStream } from "./open_stream.ts";
import { checkNested, type Transaction } from "./transaction.ts";
import {
  queryError,
  type Savepoint,
  type StatementRules,
  type TransactionConnection,
} from "./transaction_connection.ts";

/** The connection of an open transaction, for a query or a transaction that joins it. */
export class JoinedConnection implements DatabaseConnection {
  readonly #transaction: Transaction;
  readonly #rules: StatementRules;
  /** The beginning of the transaction that Kysely has open on it. */
  #savepoint: Savepoint | undefined;
  #isRollingBack = false;

  constructor(transaction: Transaction, rules: StatementRules) {
    this.#transaction = transaction;
    this.#rules = rules;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { spans } = this.#rules;
    return spans.during(query.sql, () => this.#inTurn((connection) => connection.run<R>(query)));
  }

  async *streamQuery<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    const stream = await this.#inTurn((connection) =>
      Promise.resolve(connection.stream<R>(query, chunkSize))
    );
    try {
      yield* this.#rules.spans.whileRead(query.sql, stream);
    } catch (error) {
      throw queryError(error, this.#rules);
    }
  }

  async begin(settings: TransactionSettings): Promise<void> {
    const transaction = this.#transaction;
    checkNested(settings, transaction.isolation);
    await this.#inTurn(async (connection) => {
      transaction.hold(this);
      try {
        this.#savepoint = await connection.savepoint();
      } catch (error) {
        transaction.release();
        throw error;
      }
    });
  }

  async commit(): Promise<void> {
    const savepoint = this.#savepoint;
    if (!savepoint) return;
    await this.#inTurn((connection) => connection.release(savepoint));
    this.#end();
  }

  async rollBack(): Promise<void> {
    const savepoint = this.#savepoint;
    const { connection, hasEnded } = this.#transaction;
    if (!savepoint || hasEnded || connection.isExpired) return;
    this.#isRollingBack = true;
    try {
      await connection.rollBackTo(savepoint);
      await queuedByKysely();
    } finally {
      this.#isRollingBack = false;
      this.#end();
    }
  }

  #end(): void {
    this.#savepoint = undefined;
    this.#transaction.release();
  }

  #inTurn<T>(run: (connection: TransactionConnection) => Promise<T>): Promise<T> {
    const transaction = this.#transaction;
    return transaction.during(async () => {
      while (transaction.nested) await transaction.nested;
      transaction.check("run query", this);
      if (this.#isRollingBack) throw hasEnded("run query");
      try {
        return await run(transaction.connection);
      } catch (error) {
        throw queryError(error, this.#rules);
      }
    });
  }
}

/** A connection of the database's driver, which Kysely has to itself. */
export class PooledConnection implements DatabaseConnection {
  readonly raw: DatabaseConnection;
  /** The transaction that Kysely has begun on it. */
  transaction: TransactionConnection | undefined;
  /** The end of a transaction that has reached its limit, with which it is released. */
  expiry: Promise<void> | undefined;
  readonly #rules: StatementRules;
  readonly #running = new Set<Promise<unknown> | undefined>();
  readonly #stream = new OpenStream();
  #isReleased = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Starts the timer of its transaction. */
  #arm = () => {};

  constructor(raw: DatabaseConnection, rules: StatementRules) {
    this.raw = raw;
    this.#rules = rules;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.checkHeld("run query");
    let running: Promise<QueryResult<R>> | undefined;
    try {
      const { spans, watch } = this.#rules;
      running = spans.during(
        query.sql,
        () =>
          this.transaction?.run<R>(query) ??
            watch.run(this.raw, () => this.raw.executeQuery<R>(query)),
      );
      this.#running.add(running);
      return await running;
    } catch (error) {
      throw queryError(error, this.#rules);
    } finally {
      this.#running.delete(running);
    }
  }

  async *streamQuery<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    this.checkHeld("run query");
    const { spans, watch } = this.#rules;
    try {
      const chunks = this.transaction?.stream<R>(query, chunkSize) ??
        this.#stream.read(watch.stream(this.raw, this.raw.streamQuery<R>(query, chunkSize)));
      yield* spans.whileRead(query.sql, chunks);
    } catch (error) {
      throw queryError(error, this.#rules);
    }
  }

  /** Calls `expire` unless the transaction ends before. */
  limit(timeoutMs: number, expire: () => Promise<void>): void {
    if (timeoutMs === Infinity) return;
    this.#arm = () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.expiry = expire(), timeoutMs);
    };
    this.#arm();
  }

  /** Whether it is released: it may be in use by others. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Ends the transaction: nothing else of it runs, and `finish` comes after what runs. */
  async end(finish: () => Promise<void>): Promise<void> {
    clearTimeout(this.#timer);
    await this.transaction?.end();
    try {
      await finish();
    } catch (error) {
      if (!this.#isReleased) this.#arm(); // Kysely holds it until a rollback, which may never come
      throw error;
    }
    this.transaction = undefined;
  }

  /** Refuses further queries, closes a stream, and waits for what runs. */
  async release(): Promise<void> {
    clearTimeout(this.#timer);
    this.#isReleased = true;
    await this.#stream.close();
    await Promise.allSettled(this.#running);
  }

  async cancelQuery(control: ControlConnectionProvider): Promise<void> {
    await this.raw.cancelQuery?.(control);
  }

  async collectSessionInfo(): Promise<void> {
    await this.raw.collectSessionInfo?.();
  }

  async killSession(control: ControlConnectionProvider): Promise<void> {
    await this.raw.killSession?.(control);
  }

  /**
   * Fails if the connection is released: it may be in use by others.
   *
   * @throws {DbError} `StatementTimeout` if its transaction has reached its limit
   * @throws {TypeError} if it was released otherwise
   */
  checkHeld(action: string): void {
    if (this.transaction?.isExpired) this.transaction.checkNotDoomed(action);
    if (this.#isReleased) throw new TypeError(`Cannot ${action}: its connection is released`);
  }
}

/**
 * Waits until the queries that Kysely has queued in a transaction have come, and are refused: it
 * passes on each when the one before has settled.
 */
export function queuedByKysely(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
