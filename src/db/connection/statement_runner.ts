/**
 * Runs statements, each in its turn.
 *
 * @module
 */
import type { Dialect } from "./dialect.ts";
import { queryOf, resultOf, type Statement, type StatementResult } from "./statement.ts";
import { DbError, dbError } from "../errors.ts";
import type { AmbientDriver } from "../transaction/ambient_driver.ts";
import type { Execution } from "../transaction/execution.ts";
import type { Admission } from "../transaction/gate.ts";
import { Refusal } from "../transaction/open_stream.ts";
import type { StatementWatch } from "../transaction/statement_watch.ts";
import { Interruption } from "../transaction/time_limits.ts";
import type { CallScope, Transaction } from "../transaction/transaction.ts";

/** The parts of an open database that run its statements. */
export interface StatementRunnerOptions {
  /** The database. */
  readonly dialect: Dialect;
  /** Takes connections. */
  readonly driver: AmbientDriver;
  /** Limits how many statements and transactions run at once. */
  readonly gate: Admission;
  /** Ends statements that take too long. */
  readonly watch: StatementWatch;
  /** Returns the transaction and the limits of the caller. */
  readonly scope: () => CallScope;
  /** Returns the error of an action that failed. */
  readonly failure: (action: string, error: unknown) => DbError;
}

/** Runs statements: at once where the driver can, else on a connection. */
export class StatementRunner {
  readonly #options: StatementRunnerOptions;

  /** Creates a runner for an open database. */
  constructor(options: StatementRunnerOptions) {
    this.#options = options;
  }

  /**
   * Runs a statement, inside the caller's transaction if it has one.
   *
   * @throws {DbError} if it fails
   */
  execute(action: string, statement: Statement): StatementResult | Promise<StatementResult> {
    const { dialect, gate, watch, failure, scope } = this.#options;
    const { transaction, signal } = scope();
    if (transaction) {
      return transaction.during(() => this.#executeJoined(action, statement, transaction));
    }
    const turn = watch.turn();
    if (turn) return turn.then(() => this.execute(action, statement));
    if (gate.isClosed) throw dbError(action, { code: "PoolClosed" });
    try {
      if (signal?.aborted) throw new Interruption(signal.reason);
      return dialect.runNow?.(statement, false) ?? this.executeAlone(action, () => statement);
    } catch (error) {
      throw failure(action, error);
    }
  }

  /**
   * Runs a statement outside any transaction; it is built when a connection is free.
   *
   * @throws {DbError} if it fails
   */
  async executeAlone(action: string, build: () => Statement): Promise<StatementResult> {
    const { dialect, failure } = this.#options;
    try {
      return await (dialect.runNow || dialect.runFree
        ? this.#runFree(build)
        : this.#runConnected(build));
    } catch (error) {
      throw failure(action, error);
    }
  }

  async #executeJoined(
    action: string,
    statement: Statement,
    transaction: Transaction,
  ): Promise<StatementResult> {
    const turn = this.#options.watch.turn();
    if (turn) await turn;
    while (transaction.nested) await transaction.nested;
    // No `await` from here to the driver: a nested transaction could begin.
    transaction.check(action);
    try {
      return await this.#runJoined(action, statement, transaction);
    } catch (error) {
      const isRefused = error instanceof DbError || error instanceof Refusal;
      throw isRefused ? error : this.#options.failure(action, error);
    }
  }

  async #runConnected(build: () => Statement): Promise<StatementResult> {
    const { driver, watch } = this.#options;
    const connection = await driver.take();
    try {
      const query = queryOf(build());
      return resultOf(await watch.run(connection, () => connection.executeQuery(query)));
    } finally {
      await driver.giveBack(connection);
    }
  }

  async #runFree(build: () => Statement): Promise<StatementResult> {
    const { dialect, gate, watch } = this.#options;
    const scope = this.#options.scope();
    const user = {};
    const turn = gate.enter(scope.signal, user);
    const waitedMs = turn ? await turn : 0;
    let execution: Execution | undefined;
    try {
      execution = watch.begin(scope);
      execution.waitedMs = waitedMs;
      const statement = build();
      // Inside the gate, no other transaction is open on the single connection.
      return dialect.runNow?.(statement, true) ?? await dialect.runFree!(statement, execution);
    } catch (error) {
      throw execution?.interruption ?? error;
    } finally {
      if (execution) watch.end(execution);
      gate.leave(user);
    }
  }

  async #runJoined(
    action: string,
    statement: Statement,
    { connection }: Transaction,
  ): Promise<StatementResult> {
    const { dialect, scope } = this.#options;
    const { runNow } = dialect;
    const { signal } = scope();
    const now = runNow && await connection.noting(() => {
      if (signal?.aborted) throw new Interruption(signal.reason);
      return runNow.call(dialect, statement, true);
    });
    return now ?? resultOf(await connection.run(queryOf(statement), action));
  }
}
