/**
 * The transaction of a connection, as its server or its driver reports it.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection, type Driver } from "kysely";
import { DbError } from "../errors.ts";
import { CONTROL } from "./transaction_control.ts";

/** The only values of the statements by which a driver begins and ends its transactions. */
const BEGINS = Symbol("begins");
const ENDS = Symbol("ends");

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
  #mark: unknown;
  #isLeft = false;

  /** Whether a transaction of the driver is open, unless a statement has ended it. */
  get isInside(): boolean {
    return this.#isInside;
  }

  /**
   * Prepares for a statement. Returns whether it is the driver's own, which has no values but its
   * mark.
   *
   * @throws {TypeError} if it would end the driver's transaction
   */
  before(sql: string, [mark]: readonly unknown[]): boolean {
    const isOwn = mark === BEGINS || mark === ENDS;
    this.#isLeft = false;
    this.#mark = mark;
    if (isOwn) this.#isInside = false; // one that fails to begin has not begun
    else if (this.#isInside && CONTROL.test(sql)) {
      throw new TypeError("Cannot run query: it would end its transaction, or begin another one");
    }
    return isOwn;
  }

  /**
   * Records whether a transaction is open after the statement, which is `undefined` where that is
   * unknown. Returns an error if the statement has ended that of the driver.
   */
  after(isOpen: boolean | undefined, cause?: unknown): DbError | undefined {
    if (this.#mark === BEGINS) this.#isInside = isOpen !== false;
    if (this.#mark === BEGINS || this.#mark === ENDS) return undefined;
    this.#isLeft = isOpen === true && !this.#isInside;
    if (isOpen !== false || !this.#isInside) return undefined;
    const message = "Cannot run query: it has committed or rolled back its transaction";
    return Object.assign(new DbError("Database", message, { cause }), { endsTransaction: true });
  }

  /**
   * Resets the state, as the connection is released.
   *
   * @throws {DbError} if its user has left a transaction open, unless the last statement failed
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
