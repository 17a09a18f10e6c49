/**
 * A Kysely driver whose connections join the open transaction.
 *
 * @module
 */
import type {
  CompiledQuery,
  DatabaseConnection,
  Driver,
  QueryCompiler,
  QueryResult,
  TransactionSettings,
} from "kysely";
import type { Gate } from "./gate.ts";
import type { Savepoint, Transaction } from "./transaction.ts";

type CompileQuery = QueryCompiler["compileQuery"];

/** What the driver is made of. */
export interface AmbientDriverOptions {
  /** The database's own driver. */
  readonly driver: Driver;
  /** Whom it lets in may take a connection. */
  readonly gate: Gate;
  /** Gives the transaction that the caller is inside. */
  readonly current: () => Transaction | undefined;
  /** Closes the database. */
  readonly close: () => Promise<void>;
}

/**
 * Gives the connection of the transaction that the caller is inside, where a transaction of Kysely is
 * a savepoint; outside, one of the database's own driver, as soon as the gate lets it have one.
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

  /** Takes a connection. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const { current, driver, gate } = this.#options;
    const transaction = current();
    if (transaction) return new JoinedConnection(transaction);
    await gate.enter();
    try {
      await this.init();
      return await driver.acquireConnection();
    } catch (error) {
      gate.leave();
      throw error;
    }
  }

  /** Gives a connection back. */
  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof JoinedConnection) return;
    try {
      await this.#options.driver.releaseConnection(connection);
    } finally {
      this.#options.gate.leave();
    }
  }

  /** Begins a transaction. */
  async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    if (connection instanceof JoinedConnection) return await connection.begin();
    await this.#options.driver.beginTransaction(connection, settings);
  }

  /** Commits a transaction. */
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof JoinedConnection) return await connection.commit();
    await this.#options.driver.commitTransaction(connection);
  }

  /** Rolls a transaction back. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof JoinedConnection) return await connection.rollBack();
    await this.#options.driver.rollbackTransaction(connection);
  }

  /** Sets a savepoint. */
  async savepoint(
    connection: DatabaseConnection,
    name: string,
    compileQuery: CompileQuery,
  ): Promise<void> {
    await this.#options.driver.savepoint?.(connection, name, compileQuery);
  }

  /** Undoes what was done since a savepoint. */
  async rollbackToSavepoint(
    connection: DatabaseConnection,
    name: string,
    compileQuery: CompileQuery,
  ): Promise<void> {
    await this.#options.driver.rollbackToSavepoint?.(connection, name, compileQuery);
  }

  /** Keeps what was done since a savepoint. */
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
}

/** The connection of a transaction, as one who joins it sees it. */
class JoinedConnection implements DatabaseConnection {
  readonly #transaction: Transaction;
  readonly #savepoints: Savepoint[] = [];

  constructor(transaction: Transaction) {
    this.#transaction = transaction;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    await this.#turn();
    return await this.#transaction.connection.run(query);
  }

  async *streamQuery<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    await this.#turn();
    yield* this.#transaction.connection.stream<R>(query, chunkSize);
  }

  async begin(): Promise<void> {
    await this.#turn();
    this.#savepoints.push(await this.#transaction.connection.savepoint());
  }

  async commit(): Promise<void> {
    const savepoint = this.#savepoints.pop();
    if (savepoint) await this.#transaction.connection.release(savepoint);
  }

  async rollBack(): Promise<void> {
    const savepoint = this.#savepoints.pop();
    if (savepoint) await this.#transaction.connection.rollBackTo(savepoint);
  }

  async #turn(): Promise<void> {
    while (this.#transaction.nested) await this.#transaction.nested;
    this.#transaction.check("run query");
  }
}
