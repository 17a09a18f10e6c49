/**
 * The connection of an open transaction, as Kysely uses it.
 *
 * @module
 */
import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import type { Transaction } from "./transaction.ts";
import {
  type FailureRules,
  queryError,
  type Savepoint,
  type TransactionConnection,
} from "./transaction_connection.ts";

/** The connection of a transaction, as one who joins it sees it. */
export class JoinedConnection implements DatabaseConnection {
  readonly #transaction: Transaction;
  readonly #rules: FailureRules;
  readonly #savepoints: Savepoint[] = [];

  constructor(transaction: Transaction, rules: FailureRules) {
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

  async begin(): Promise<void> {
    this.#savepoints.push(await this.#inTurn((connection) => connection.savepoint()));
  }

  async commit(): Promise<void> {
    const savepoint = this.#savepoints.pop();
    if (savepoint) await this.#inTurn((connection) => connection.release(savepoint));
  }

  async rollBack(): Promise<void> {
    const savepoint = this.#savepoints.pop();
    if (!savepoint || this.#transaction.hasEnded) return;
    await this.#transaction.connection.rollBackTo(savepoint);
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
