/**
 * A Kysely driver whose connections join the open transaction, and whose errors are `DbError`s.
 *
 * @module
 */
import type { DatabaseConnection, Driver, QueryCompiler, TransactionSettings } from "kysely";
import type { StatementWatch } from "./statement_watch.ts";
import { Interruption, timeoutReason, unlessAborted } from "./time_limits.ts";
import type { CallScope } from "./transaction.ts";
import type { Admission } from "./gate.ts";
import { JoinedConnection, PooledConnection, queuedByKysely } from "./kysely_connection.ts";
import {
  queryError,
  type StatementRules,
  TransactionConnection,
} from "./transaction_connection.ts";

type CompileQuery = QueryCompiler["compileQuery"];

/** The parts of the driver. */
export interface AmbientDriverOptions {
  /** The database's own driver. */
  readonly driver: Driver;
  /** Limits the connections in use. */
  readonly gate: Admission;
  /** Returns the scope of the caller. */
  readonly scope: () => CallScope;
  /** How statements run and fail. */
  readonly rules: StatementRules;
  /** The limit in milliseconds of a transaction of Kysely, or `Infinity`. */
  readonly timeoutMs: number;
  /** Takes note of how long the caller of a connection has waited for it. */
  readonly waited: (connection: DatabaseConnection, ms: number) => void;
  /** Closes the database. */
  readonly close: () => Promise<void>;
}

/**
 * Provides the connection of the transaction that the caller is inside, where a transaction of
 * Kysely is a savepoint; outside, a connection of the database's driver, once the gate admits it.
 */
export class AmbientDriver implements Driver {
  readonly #options: AmbientDriverOptions;
  /** Who has taken each connection. */
  readonly #users = new WeakMap<DatabaseConnection, object>();
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
    const { driver, gate, scope, waited } = this.#options;
    const { signal } = scope();
    const user = {};
    const waitedMs = await gate.enter(signal, user) ?? 0;
    let acquired: Promise<DatabaseConnection> | undefined;
    try {
      await this.init();
      acquired = driver.acquireConnection();
      const connection = await unlessAborted(acquired, signal);
      this.#users.set(connection, user);
      waited(connection, waitedMs);
      return connection;
    } catch (error) {
      const unused = acquired?.then((connection) => driver.releaseConnection(connection));
      void Promise.resolve(unused).catch(() => {}).finally(() => gate.leave(user));
      throw error;
    }
  }

  /** Releases a connection of the database's driver, at the end of what it still runs. */
  async giveBack(connection: DatabaseConnection): Promise<void> {
    const unsettled = this.#options.rules.watch.takeUnsettled(connection);
    if (unsettled) void this.#releaseWhenSettled(connection, unsettled);
    else await this.#release(connection);
  }

  /** Releases a connection that may have begun a transaction after its caller had given up. */
  async #releaseWhenSettled(
    connection: DatabaseConnection,
    unsettled: Promise<void>,
  ): Promise<void> {
    const { driver, rules } = this.#options;
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    async function rollBack(): Promise<void> {
      try {
        await driver.rollbackTransaction(connection);
      } catch (error) {
        if (rules.explain(error).code === "ConnectionLost") resolve();
      }
    }
    // detects a lost connection: mysql2 never ends its stream, but refuses the next statement
    void rollBack();
    await Promise.race([unsettled, lost]);
    await rollBack(); // undoes what the unsettled statement has begun
    await this.#release(connection).catch(() => {});
  }

  async #release(connection: DatabaseConnection): Promise<void> {
    const user = this.#users.get(connection)!;
    try {
      await this.#options.driver.releaseConnection(connection);
    } finally {
      this.#options.gate.leave(user);
    }
  }

  /** Takes a connection, for Kysely. */
  async acquireConnection(): Promise<DatabaseConnection> {
    const transaction = this.#options.scope().transaction;
    if (transaction) return new JoinedConnection(transaction, this.#options.rules);
    try {
      return new PooledConnection(await this.take(), this.#options.rules);
    } catch (error) {
      throw queryError(error, this.#options.rules);
    }
  }

  /** Releases a connection. */
  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    if (!(connection instanceof PooledConnection)) return;
    if (connection.expiry) return await connection.expiry;
    await this.#releasePooled(connection);
  }

  /** Begins a transaction. */
  async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    if (connection instanceof JoinedConnection) await connection.begin(settings);
    else if (connection instanceof PooledConnection) {
      connection.checkHeld("begin transaction");
      await this.#explaining((watch, driver) =>
        watch.run(connection.raw, () => driver.beginTransaction(connection.raw, settings))
      );
      connection.transaction = new TransactionConnection(connection.raw, this.#options.rules);
      const { scope, timeoutMs } = this.#options;
      if (!scope().isUnlimited) connection.limit(timeoutMs, () => this.#expire(connection));
    }
  }

  /** Commits a transaction. */
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof JoinedConnection) await connection.commit();
    else if (connection instanceof PooledConnection) {
      connection.checkHeld("commit transaction");
      connection.transaction?.checkAwaited("commit transaction");
      connection.transaction?.checkNotDoomed("commit transaction");
      await this.#finish(connection, (driver) => driver.commitTransaction(connection.raw));
    }
  }

  /** Rolls a transaction back. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (connection instanceof JoinedConnection) await connection.rollBack();
    else if (connection instanceof PooledConnection) {
      if (connection.expiry) return await connection.expiry;
      if (connection.isReleased) return; // it was rolled back then
      await connection.transaction?.end();
      // A failure to roll back a connection that was given up must not replace the reason.
      if (this.#options.rules.watch.ending(connection.raw)) return;
      await this.#finish(connection, async (driver) => {
        await driver.rollbackTransaction(connection.raw);
        await queuedByKysely();
      });
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

  /**
   * Rolls back a transaction that reached its time limit and releases its connection, as its
   * function may never end.
   */
  async #expire(connection: PooledConnection): Promise<void> {
    connection.transaction?.expire(new Interruption(timeoutReason(this.#options.timeoutMs)));
    await this.#releasePooled(connection).catch(() => {});
  }

  /** Releases a connection, after rolling back a transaction that is open on it. */
  async #releasePooled(connection: PooledConnection): Promise<void> {
    const { driver, rules: { watch } } = this.#options;
    const { raw, transaction } = connection;
    await connection.release();
    await transaction?.end();
    if (transaction && !watch.ending(raw)) {
      await watch.finish(raw, () => driver.rollbackTransaction(raw)).catch(() => {});
    }
    await this.giveBack(raw);
  }

  #finish(connection: PooledConnection, send: (driver: Driver) => Promise<void>): Promise<void> {
    return connection.end(() =>
      this.#explaining((watch, driver) => watch.finish(connection.raw, () => send(driver)))
    );
  }

  async #explaining(
    run: (watch: StatementWatch, driver: Driver) => Promise<void>,
  ): Promise<void> {
    const { driver, rules } = this.#options;
    try {
      await run(rules.watch, driver);
    } catch (error) {
      throw queryError(error, rules);
    }
  }
}
