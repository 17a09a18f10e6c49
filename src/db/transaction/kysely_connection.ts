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
import { checkNested, type Transaction } from "./transaction.ts";
import {
  queryError,
  type Savepoint,
  type StatementRules,
  type TransactionConnection,
} from "./transaction_connection.ts";

/** The connection of an open transaction, for a query that joins it. */
export class JoinedConnection implements DatabaseConnection {
  readonly #transaction: Transaction;
  readonly #rules: StatementRules;
  readonly #savepoints: Savepoint[] = [];

  constructor(transaction: Transaction, rules: StatementRules) {
    this.#transaction = transaction;
    this.#rules = rules;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#inTurn((connection) => connection.run<R>(query));
  }

  async *streamQuery<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    const stream = await this.#inTurn((connection) =>
      Promise.resolve(connection.stream<R>(query, chunkSize))
    );
    try {
      yield* stream;
    } catch (error) {
      throw queryError(error, this.#rules);
    }
  }

  async begin(settings: TransactionSettings): Promise<void> {
    checkNested(settings, this.#transaction.isolation);
    this.#savepoints.push(await this.#inTurn((connection) => connection.savepoint()));
  }

  async commit(): Promise<void> {
    const savepoint = this.#savepoints.pop();
    if (savepoint) await this.#inTurn((connection) => connection.release(savepoint));
  }

  async rollBack(): Promise<void> {
    const savepoint = this.#savepoints.pop();
    const { connection, hasEnded } = this.#transaction;
    if (!savepoint || hasEnded || connection.isExpired) return;
    await connection.rollBackTo(savepoint);
  }

  #inTurn<T>(run: (connection: TransactionConnection) => Promise<T>): Promise<T> {
    const transaction = this.#transaction;
    return transaction.during(async () => {
      while (transaction.nested) await transaction.nested;
      transaction.check("run query");
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
  readonly #rules: StatementRules;

  constructor(raw: DatabaseConnection, rules: StatementRules) {
    this.raw = raw;
    this.#rules = rules;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      if (this.transaction) return await this.transaction.run<R>(query);
      return await this.#rules.watch.run(this.raw, () => this.raw.executeQuery<R>(query));
    } catch (error) {
      throw queryError(error, this.#rules);
    }
  }

  async *streamQuery<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    try {
      yield* this.transaction?.stream<R>(query, chunkSize) ??
        this.#rules.watch.stream(this.raw, this.raw.streamQuery<R>(query, chunkSize));
    } catch (error) {
      throw queryError(error, this.#rules);
    }
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
}
