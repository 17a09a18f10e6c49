/**
 * Runs transactions.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Driver } from "kysely";
import type { AmbientDriver } from "./ambient_driver.ts";
import { dbError, explaining } from "../errors.ts";
import {
  backOff,
  ISOLATION_LEVELS,
  type IsolationLevel,
  Transaction,
  type TransactionOptions,
} from "./transaction.ts";
import { type FailureRules, TransactionConnection } from "./transaction_connection.ts";

/** The parts of a runner. */
export interface TransactionRunnerOptions {
  /** Provides connections. */
  readonly ambient: Pick<AmbientDriver, "take" | "giveBack">;
  /** The database's own driver. */
  readonly driver: Driver;
  /** The meaning of errors. */
  readonly rules: FailureRules;
  /** The isolation of a transaction that does not set it. */
  readonly defaultIsolation: IsolationLevel;
}

/** How many causes of an error to look through. */
const MAX_CAUSES = 8;

/** Runs functions inside transactions, and tracks which one a caller is inside. */
export class TransactionRunner {
  readonly #options: TransactionRunnerOptions;
  readonly #current = new AsyncLocalStorage<Transaction>();

  /** Creates a runner for a database. */
  constructor(options: TransactionRunnerOptions) {
    this.#options = options;
  }

  /** The transaction that the caller is inside. */
  get current(): Transaction | undefined {
    return this.#current.getStore();
  }

  /** Runs a function inside a transaction; see `DbService.transaction`. */
  async run<T>(
    run: () => T | Promise<T>,
    { isolation, retries = 0 }: TransactionOptions = {},
  ): Promise<T> {
    if (isolation !== undefined && !ISOLATION_LEVELS.includes(isolation)) {
      throw new TypeError("Cannot begin transaction: there is no such isolation level");
    }
    if (!Number.isSafeInteger(retries) || retries < 0) {
      throw new RangeError("Cannot begin transaction: retries is not a whole number of 0 or more");
    }
    const outer = this.current;
    if (outer) {
      if (isolation !== undefined && !isAtMost(isolation, outer.isolation)) {
        throw new TypeError(
          `Cannot begin nested transaction: the outer one is ${outer.isolation}, not ${isolation}`,
        );
      }
      return await outer.nest(
        (nested) => this.#runInside(nested, run),
        (error) => dbError("begin nested transaction", this.#options.rules.explain(error), error),
      );
    }
    for (let attempt = 0;; attempt++) {
      try {
        return await this.#transactOnce(run, isolation);
      } catch (error) {
        if (attempt >= retries || !this.#isSerializationFailure(error)) throw error;
      }
      await backOff(attempt);
    }
  }

  async #transactOnce<T>(run: () => T | Promise<T>, isolation?: IsolationLevel): Promise<T> {
    const { ambient, driver, rules, defaultIsolation } = this.#options;
    const beginning = { action: "begin transaction", explain: rules.explain };
    const committing = { action: "commit transaction", explain: rules.explain };
    const connection = await explaining(() => ambient.take(), beginning);
    try {
      const settings = isolation === undefined ? {} : { isolationLevel: isolation };
      await explaining(() => driver.beginTransaction(connection, settings), beginning);
      try {
        const joined = new TransactionConnection(connection, rules);
        const transaction = new Transaction(joined, isolation ?? defaultIsolation);
        const result = await this.#runInside(transaction, run);
        joined.checkNotDoomed("commit transaction");
        await explaining(() => driver.commitTransaction(connection), committing);
        return result;
      } catch (error) {
        await driver.rollbackTransaction(connection).catch(() => {});
        throw error;
      }
    } finally {
      await ambient.giveBack(connection);
    }
  }

  async #runInside<T>(transaction: Transaction, run: () => T | Promise<T>): Promise<T> {
    try {
      const result = await this.#current.run(transaction, async () => await run());
      transaction.checkAwaited("commit transaction");
      return result;
    } finally {
      await transaction.end();
    }
  }

  /** Returns the database's failure, which the application may have wrapped. */
  #isSerializationFailure(error: unknown): boolean {
    let cause = error;
    for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
      if (this.#options.rules.explain(cause).code === "SerializationFailure") return true;
      cause = cause.cause;
    }
    return false;
  }
}

function isAtMost(isolation: IsolationLevel, outer: IsolationLevel): boolean {
  return ISOLATION_LEVELS.indexOf(isolation) <= ISOLATION_LEVELS.indexOf(outer);
}
