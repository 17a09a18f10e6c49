/**
 * A connection of the pool, as Kysely uses it.
 *
 * @module
 */
import type {
  CompiledQuery,
  ControlConnectionProvider,
  DatabaseConnection,
  QueryResult,
} from "kysely";
import {
  type FailureRules,
  queryError,
  type TransactionConnection,
} from "./transaction_connection.ts";

/** A connection of the database's driver, as Kysely has it for itself. */
export class PooledConnection implements DatabaseConnection {
  readonly raw: DatabaseConnection;
  /** The transaction of Kysely's that is open on it. */
  transaction: TransactionConnection | undefined;
  readonly #rules: FailureRules;

  constructor(raw: DatabaseConnection, rules: FailureRules) {
    this.raw = raw;
    this.#rules = rules;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      return await (this.transaction?.run<R>(query) ?? this.raw.executeQuery<R>(query));
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
        this.raw.streamQuery<R>(query, chunkSize);
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
