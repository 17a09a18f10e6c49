/**
 * The transaction of a connection, as its server or its driver reports it.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection, type Driver } from "kysely";
import { DbError } from "../errors.ts";

/** The only values of the statements by which a driver begins and ends its transactions. */
const BEGINS = Symbol("begins");
const ENDS = Symbol("ends");

/**
 * Statements that begin or end a transaction; ROLLBACK TO only returns to a savepoint. What they
 * leave open may be another one, which no server reports.
 */
const CONTROL =
  /^\s*(?:begin(?!\s+not\b)|start\s+transaction|commit|end|abort|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i;

/** Marks the statements by which a driver begins and ends transactions, for `TransactionState`. */
export function markTransactions<D extends Driver>(driver: D): D {
  const begin = driver.beginTransaction.bind(driver);
  const commit = driver.commitTransaction.bind(driver);
  const rollBack = driver.rollbackTransaction.bind(driver);
  driver.beginTransaction = (connection, settings) => begin(marking(connection, BEGINS), settings);
  driver.commitTransaction = (connection) => commit(marking(connection, ENDS));
  driver.rollbackTransaction = (connection) => rollBack(marking(connection, ENDS));
  return driver;
}

function marking(connection: DatabaseConnection, mark: symbol): DatabaseConnection {
  return {
    executeQuery: ({ sql }) => connection.executeQuery(CompiledQuery.raw(sql, [mark])),
    streamQuery: (...args) => connection.streamQuery(...args),
  };
}

/** Detects statements that end the driver's transaction, or leave one of their own open. */
export class TransactionState {
  #isInside = false;
  #isMarked = false;
  #isLeft = false;

  /** Whether a transaction of the driver is open, unless a statement has ended it. */
  get isInside(): boolean {
    return this.#isInside;
  }

  /**
   * Takes note of a statement before it is sent. Returns whether it is the driver's own, which has
   * no values but its mark.
   *
   * @throws {TypeError} if it would end the driver's transaction
   */
  send(sql: string, [mark]: readonly unknown[]): boolean {
    this.#isLeft = false;
    this.#isMarked = mark === BEGINS || mark === ENDS;
    if (this.#isMarked) this.#isInside = mark === BEGINS;
    else if (this.#isInside && CONTROL.test(sql)) {
      throw new TypeError("Cannot run query: it would end its transaction, or begin another one");
    }
    return this.#isMarked;
  }

  /**
   * Takes note of whether a transaction is open after the statement, which is `undefined` where
   * that is unknown. Returns an error if the statement has ended that of the driver.
   */
  settle(isOpen: boolean | undefined, cause?: unknown): DbError | undefined {
    if (this.#isMarked) return undefined;
    this.#isLeft = isOpen === true && !this.#isInside;
    if (isOpen !== false || !this.#isInside) return undefined;
    const message = "Cannot run query: it has committed or rolled back its transaction";
    return Object.assign(new DbError("Database", message, { cause }), { endsTransaction: true });
  }

  /**
   * Forgets the user of the connection, which is released.
   *
   * @throws {DbError} if the user has left a transaction open, unless its last statement failed
   */
  release(): void {
    const isLeft = this.#isLeft;
    this.#isInside = false;
    this.#isLeft = false;
    if (!isLeft) return;
    const message = "Cannot run query: it has left a transaction open, which is rolled back";
    throw new DbError("Database", message);
  }
}
