/**
 * A Kysely driver whose connections join the open transaction, and whose errors are `DbError`s.
 *
 * @module
 */
import type { DatabaseConnection, Driver, QueryCompiler, TransactionSettings } from "kysely";
import type { Gate } from "./gate.ts";
import { JoinedConnection, PooledConnection } from "./kysely_connection.ts";
import type { Transaction } from "./transaction.ts";
import { type FailureRules, queryError, TransactionConnection } from "./transaction_connection.ts";

type CompileQuery = QueryCompiler["compileQuery"];

/** The parts of the driver. */
export interface AmbientDriverOptions {
  /** The database's own driver. */
  readonly driver: Driver;
  /** Limits the connections in use. */
  readonly gate: Gate;
  /** Returns the transaction that the caller is inside. */
  readonly current: () => Transaction | undefined;
  /** The meaning of errors. */
  readonly rules: FailureRules;
  /** Closes the database. */
  readonly close: () => Promise<void>;
}

/**
 * Provides the connection of the transaction that the caller is inside, where a transaction of
 * Kysely is a savepoint; outside, a connection of the database's driver, once the gate admits it.
 */
export class AmbientDriver implements Driver {
  readonly #options: AmbientDriverOptions;
  #ready: Promise<void> | undefined;

  /** Creates a driver over the database's own. */
  constructor(options: AmbientDriverOptions) {
    this.#options = options;
  }

  /** Initializes the database's driver, once. */
  init(): Promise<void> {
    return this.#ready ??= this.#options.driver.init();
  }

  /** Takes a connection of the database's driver. */
  async take(): Promise<DatabaseConnection> {
    const { driver, gate } = this.#options;
    await gate.enter();
    try {
      await this.init();
      return await driver.acquireConnection();
    } catch (error) {
      gate.leave();
      throw error;
    }
  }

  /** Releases a connection of the database's driver. */
  async giveBack(connection: DatabaseConnection): Promise<void> {
    try {
      await this.#options.driver.releaseConnection(connection);
    } finally {
      this.#options.gate.leave();
    }
  }

  /** Takes a connection, for Kysely. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const transaction = this.#options.current();
    if (transaction) return new JoinedConnection(transaction, this.#options.rules);
    try {
      return new PooledConnection(await this.take(), this.#options.rules);
    } catch (error) {
      throw queryError(error, this.#options.rules);
    }
  }

  /** Releases a connection. */
  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof PooledConnection) await this.giveBack(connection.raw);
  }

  /** Begins a transaction. */
  async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    if (connection instanceof JoinedConnection) await connection.begin();
    else if (connection instanceof PooledConnection) {
      await this.#explaining(() => this.#options.driver.beginTransaction(connection.raw, settings));
      connection.transaction = new TransactionConnection(connection.raw, this.#options.rules);
    }
  }

  /** Commits a transaction. */
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof JoinedConnection) await connection.commit();
    else if (connection instanceof PooledConnection) {
      connection.transaction?.checkNotDoomed("commit transaction");
      await this.#explaining(() => this.#options.driver.commitTransaction(connection.raw));
      connection.transaction = undefined;
    }
  }

  /** Rolls a transaction back. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof JoinedConnection) await connection.rollBack();
    else if (connection instanceof PooledConnection) {
      connection.transaction = undefined;
      await this.#explaining(() => this.#options.driver.rollbackTransaction(connection.raw));
    }
  }

  /** Sets a savepoint. */
  async savepoint(
    connection: DatabaseConnection,
    name: string,
    compileQuery: CompileQuery,
  ): Promise<void> {
    await this.#options.driver.savepoint?.(connection, name, compileQuery);
  }

  /** Rolls back to a savepoint. */
  async rollbackToSavepoint(
    connection: DatabaseConnection,
    name: string,
    compileQuery: CompileQuery,
  ): Promise<void> {
    await this.#options.driver.rollbackToSavepoint?.(connection, name, compileQuery);
    if (connection instanceof PooledConnection) connection.transaction?.revive();
  }

  /** Releases a savepoint. */
  async releaseSavepoint(
    connection: DatabaseConnection,
    name: string,
    compileQuery: CompileQuery,
  ): Promise<void> {
    await this.#options.driver.releaseSavepoint?.(connection, name, compileQuery);
  }

  /** Closes the database. */
  destroy(): Promise<void> {
    return this.#options.close();
  }

  async #explaining(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      throw queryError(error, this.#options.rules);
    }
  }
}
