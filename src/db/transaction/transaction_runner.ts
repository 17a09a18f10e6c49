/**
 * Runs transactions.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";
import {
  Interruption,
  Limit,
  LIMIT_OPTIONS,
  type TimeLimits,
  unlessAborted,
} from "./time_limits.ts";
import type { AmbientDriver } from "./ambient_driver.ts";
import { CallScopes } from "./call_context.ts";
import { dbError, explaining } from "../errors.ts";
import { checkOptions } from "../model/plain_object.ts";
import {
  backOff,
  type CallScope,
  checkNested,
  type CommitCallback,
  ISOLATION_LEVELS,
  type IsolationLevel,
  Transaction,
  type TransactionOptions,
} from "./transaction.ts";
import { type StatementRules, TransactionConnection } from "./transaction_connection.ts";

/** The parts of a runner. */
export interface TransactionRunnerOptions {
  /** Provides connections. */
  readonly ambient: Pick<AmbientDriver, "take" | "giveBack">;
  /** The database's own driver. */
  readonly driver: Driver;
  /** How statements run and fail. */
  readonly rules: StatementRules;
  /** The isolation of a transaction that does not set it. */
  readonly defaultIsolation: IsolationLevel;
  /** The limit in milliseconds of a transaction that does not set it. */
  readonly timeoutMs: number;
}

const OPTIONS = ["isolation", "retries", ...LIMIT_OPTIONS];
const NO_SCOPE: CallScope = {};
/** How long a rollback may take; the server rolls back by itself when its connection ends. */
const ROLLBACK_MS = 5000;
/** How many causes of an error to look through. */
const MAX_CAUSES = 8;

/** The outcome of a transaction. */
interface Committed<T> {
  readonly result: T;
  readonly callbacks: readonly CommitCallback[];
}

/** Runs functions inside transactions, and tracks which one a caller is inside. */
export class TransactionRunner {
  readonly #options: TransactionRunnerOptions;
  readonly #scopes = new CallScopes<CallScope>();
  readonly #limits = new Set<Limit>();

  /** Creates a runner for a database. */
  constructor(options: TransactionRunnerOptions) {
    this.#options = options;
  }

  /** What the statements of the caller depend on. */
  get scope(): CallScope {
    return this.#scopes.current ?? NO_SCOPE;
  }

  /**
   * Runs an operation within limits, which its statements share.
   *
   * @throws {RangeError} if `timeoutMs` is not a number, positive and below 2^31
   * @throws {TypeError} if `signal` is not an `AbortSignal`
   */
  limited<T>(limits: TimeLimits, work: () => Promise<T>): Promise<T> {
    const { timeoutMs, signal } = limits;
    return timeoutMs === undefined && signal === undefined ? work() : this.#limited(limits, work);
  }

  /** Aborts what has reached its limit by the clock. */
  checkLimits(): void {
    for (const limit of this.#limits) limit.check();
  }

  /** Aborts what has not ended when the database is closed. */
  close(): void {
    for (const limit of this.#limits) limit.abort(new Error("the database was closed"));
  }

  /** Runs work whose statements and transactions may take as long as they need. */
  unlimited<T>(work: () => Promise<T>): Promise<T> {
    return this.#scopes.run({ ...this.scope, isUnlimited: true }, work);
  }

  /** Runs work outside the transaction of the caller, within its limits in time. */
  outside<T>(work: () => Promise<T>): Promise<T> {
    return this.#scopes.run({ ...this.scope, transaction: undefined }, work);
  }

  /** Runs a function inside a transaction; see `DbService.transaction`. */
  async run<T>(
    run: () => T | Promise<T>,
    options: TransactionOptions,
  ): Promise<T> {
    checkOptions(options, OPTIONS, { action: "begin transaction" });
    const { isolation, retries = 0, ...limits } = options;
    if (isolation !== undefined && !ISOLATION_LEVELS.includes(isolation)) {
      throw new TypeError("Cannot begin transaction: there is no such isolation level");
    }
    if (!Number.isSafeInteger(retries) || retries < 0) {
      throw new RangeError("Cannot begin transaction: retries is not a whole number of 0 or more");
    }
    const { transaction: outer } = this.scope;
    if (outer) {
      checkNested({ isolationLevel: isolation }, outer.isolation);
      return await this.limited(limits, () =>
        outer.nest(
          (nested) => this.#runInside(nested, run),
          (error) => dbError("begin nested transaction", this.#options.rules.explain(error), error),
        ));
    }
    const { result, callbacks } = await this.#retry(
      (connection) => this.#transact(run, { connection, isolation }),
      { retries, ...limits },
    );
    for (const callback of callbacks) await callAfterCommit(callback);
    return result;
  }

  /** Registers a callback for after the commit of the caller's transaction; see `DbService`. */
  async afterCommit(callback: CommitCallback): Promise<void> {
    const { transaction } = this.scope;
    if (transaction) transaction.afterCommit(callback);
    else await callback();
  }

  /** Runs a query that begins and commits a transaction, outside any other. */
  runWhole(query: CompiledQuery, retries: number): Promise<QueryResult<unknown>> {
    const { watch } = this.#options.rules;
    return this.#retry(async (connection) => {
      try {
        return await watch.run(connection, () => connection.executeQuery(query));
      } catch (error) {
        await this.#rollBack(connection);
        throw error;
      }
    }, { retries });
  }

  async #retry<T>(
    run: (connection: DatabaseConnection) => Promise<T>,
    { retries, timeoutMs, signal }: TimeLimits & { readonly retries: number },
  ): Promise<T> {
    const ownMs = this.scope.isUnlimited ? Infinity : this.#options.timeoutMs;
    return await this.limited({ timeoutMs: timeoutMs ?? ownMs, signal }, async () => {
      for (let attempt = 0;; attempt++) {
        try {
          return await this.#onConnection(run);
        } catch (error) {
          if (attempt >= retries || !this.#isSerializationFailure(error)) throw error;
        }
        await backOff(attempt);
      }
    });
  }

  async #onConnection<T>(run: (connection: DatabaseConnection) => Promise<T>): Promise<T> {
    const { ambient, rules: { explain } } = this.#options;
    const connection = await explaining(() => ambient.take(), {
      action: "begin transaction",
      explain,
    });
    try {
      return await run(connection);
    } finally {
      await ambient.giveBack(connection);
    }
  }

  async #rollBack(connection: DatabaseConnection): Promise<void> {
    const { driver, rules: { watch } } = this.#options;
    await watch.ending(connection);
    await watch.finish(connection, () => driver.rollbackTransaction(connection), ROLLBACK_MS)
      .catch(() => {});
  }

  async #transact<T>(
    run: () => T | Promise<T>,
    { connection, isolation }: {
      connection: DatabaseConnection;
      isolation: IsolationLevel | undefined;
    },
  ): Promise<Committed<T>> {
    const { driver, rules, defaultIsolation } = this.#options;
    const { watch, explain } = rules;
    const settings = isolation === undefined ? {} : { isolationLevel: isolation };
    await explaining(
      () => watch.run(connection, () => driver.beginTransaction(connection, settings)),
      { action: "begin transaction", explain },
    );
    const joined = new TransactionConnection(connection, rules);
    const transaction = new Transaction(joined, isolation ?? defaultIsolation);
    try {
      const result = await unlessAborted(this.#runInside(transaction, run), this.scope.signal);
      await joined.end();
      joined.checkNotDoomed("commit transaction");
      await explaining(
        () => watch.finish(connection, () => driver.commitTransaction(connection)),
        { action: "commit transaction", explain },
      );
      return { result, callbacks: transaction.commitCallbacks };
    } catch (error) {
      if (error instanceof Interruption) joined.expire(error);
      await joined.end();
      await this.#rollBack(connection);
      throw error instanceof Interruption
        ? dbError("run transaction", error.failure, error)
        : error;
    }
  }

  async #limited<T>(limits: TimeLimits, work: () => Promise<T>): Promise<T> {
    const limit = new Limit(limits, this.scope.signal);
    this.#limits.add(limit);
    try {
      return await this.#scopes.run({ ...this.scope, signal: limit.signal }, work);
    } finally {
      this.#limits.delete(limit);
      limit.end();
    }
  }

  async #runInside<T>(transaction: Transaction, run: () => T | Promise<T>): Promise<T> {
    try {
      const result = await this.#scopes.run(
        { ...this.scope, transaction },
        async () => await run(),
      );
      transaction.checkAwaited("commit transaction");
      return result;
    } finally {
      await transaction.end();
    }
  }

  /** Checks whether an error is, or wraps, a serialization failure. */
  #isSerializationFailure(error: unknown): boolean {
    let cause = error;
    for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
      if (this.#options.rules.explain(cause).code === "SerializationFailure") return true;
      cause = cause.cause;
    }
    return false;
  }
}

/** Calls a callback after the commit, which its failure cannot undo. */
async function callAfterCommit(callback: CommitCallback): Promise<void> {
  try {
    await callback();
  } catch (error) {
    getLogger(["fw", "db"]).error("A callback after the commit failed: {error}", { error });
  }
}
