/**
 * Transactions, which all operations inside them join.
 *
 * @module
 */
import type { LimitScope, TimeLimits } from "./time_limits.ts";
import { hasEnded, Refusal } from "./open_stream.ts";
import { notAwaited, type TransactionConnection } from "./transaction_connection.ts";

/** How far a transaction is isolated from concurrent ones; SQLite's are always serializable. */
export type IsolationLevel =
  | "read uncommitted"
  | "read committed"
  | "repeatable read"
  | "serializable";

/** The isolation levels, the strictest last. */
export const ISOLATION_LEVELS: readonly IsolationLevel[] = [
  "read uncommitted",
  "read committed",
  "repeatable read",
  "serializable",
];

/**
 * Checks the settings of a nested transaction, which is a part of the outer one.
 *
 * @throws {TypeError} if the outer one is less isolated, or it would be read-only
 */
export function checkNested(
  { isolationLevel, accessMode }: {
    readonly isolationLevel?: string | undefined;
    readonly accessMode?: string | undefined;
  },
  outer: IsolationLevel,
): void {
  const refuse = (reason: string) =>
    new TypeError(`Cannot begin nested transaction: the outer one is ${reason}`);
  if (accessMode === "read only") throw refuse("not read-only");
  if (isolationLevel === undefined) return;
  const level = ISOLATION_LEVELS.findIndex((known) => known === isolationLevel);
  if (level >= 0 && level <= ISOLATION_LEVELS.indexOf(outer)) return;
  throw refuse(`${outer}, not ${isolationLevel}`);
}

/**
 * How a transaction is run. Of a nested one, `timeoutMs` and `signal` limit the statements; of the
 * outermost they limit the whole, in place of `DbOptions.transactionTimeoutMs`.
 */
export interface TransactionOptions extends TimeLimits {
  /**
   * The isolation level; the database's default unless given. A nested transaction has that of the
   * outer one, and cannot require a stricter one.
   */
  readonly isolation?: IsolationLevel | undefined;
  /**
   * How often to retry after a serialization failure or a deadlock; 0 by default. The delays grow
   * from about 10 ms to 1 s. Effects of the function outside the database are not undone. The
   * outermost transaction is retried as a whole.
   */
  readonly retries?: number | undefined;
}

/** What the statements of a caller depend on. */
export interface CallScope extends LimitScope {
  /** The transaction that the caller is inside. */
  readonly transaction?: Transaction | undefined;
}

/** A callback that runs after a commit. */
export type CommitCallback = () => unknown;

/** One level of an open transaction: the outermost, or that of a nested call. */
export class Transaction {
  /** The connection that all levels share. */
  readonly connection: TransactionConnection;
  /** The isolation of all levels. */
  readonly isolation: IsolationLevel;
  #nested: Promise<void> | undefined;
  /** The connection of Kysely whose transaction is open in this level. */
  #holder: object | undefined;
  #pending = 0;
  #hasEnded = false;
  readonly #commitCallbacks: CommitCallback[] = [];

  /** Opens a level. */
  constructor(connection: TransactionConnection, isolation: IsolationLevel) {
    this.connection = connection;
    this.isolation = isolation;
  }

  /**
   * The end of the open nested transactions, if there are any. This level's statements must wait
   * for it: rolling back a nested transaction would undo them.
   */
  get nested(): Promise<void> | undefined {
    return this.#nested;
  }

  /** Whether it has ended: its connection may be in use by another transaction. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Fails if the level has ended, or cannot be committed.
   *
   * @throws {DbError} if it cannot be committed: `Database`, or the failure's code if a
   * retry may succeed
   * @throws {TypeError} if it has ended, one of its streams is open, or a Kysely transaction other
   * than `caller` is open in it
   */
  check(action: string, caller?: object): void {
    this.connection.checkRuns(action);
    if (this.#hasEnded) throw hasEnded(action);
    this.#checkHolder(action, caller);
  }

  /**
   * Refuses the statements of all others until `release()`: rolling back the Kysely transaction
   * that holds the level would undo them, and its function may wait for them.
   */
  hold(holder: object): void {
    this.#holder = holder;
  }

  /** Ends `hold()`. */
  release(): void {
    this.#holder = undefined;
  }

  /** Counts work on this level as pending until it is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    try {
      return await work();
    } finally {
      this.#pending -= 1;
    }
  }

  /**
   * Fails while work is pending, or a transaction of Kysely is open: a part of it would be outside
   * the transaction.
   *
   * @throws {TypeError} if the level's function started work that it did not await
   */
  checkAwaited(action: string): void {
    if (this.#pending > 0 || this.#holder) throw notAwaited(action);
  }

  /**
   * Runs a function in a nested level, after earlier ones; the level is rolled back if it fails.
   */
  async nest<T>(
    run: (nested: Transaction) => Promise<T>,
    wordError: (error: unknown) => Error,
  ): Promise<T> {
    return await this.during(() => this.#nest(run, wordError));
  }

  /**
   * Registers a callback for after the commit of the outermost level.
   *
   * @throws {TypeError} if the level has ended, or a Kysely transaction is open in it
   */
  afterCommit(callback: CommitCallback): void {
    const action = "wait for the commit";
    if (this.#hasEnded) throw hasEnded(action);
    this.#checkHolder(action);
    this.#commitCallbacks.push(callback);
  }

  /** The registered callbacks, with those of nested levels that were not rolled back. */
  get commitCallbacks(): readonly CommitCallback[] {
    return this.#commitCallbacks;
  }

  /** Ends the level, after its nested levels. */
  async end(): Promise<void> {
    while (this.#nested) await this.#nested;
    this.#hasEnded = true;
  }

  #checkHolder(action: string, caller?: object): void {
    if (!this.#holder || this.#holder === caller) return;
    throw new Refusal(`Cannot ${action}: a Kysely transaction is open in its transaction`);
  }

  async #nest<T>(
    run: (nested: Transaction) => Promise<T>,
    wordError: (error: unknown) => Error,
  ): Promise<T> {
    async function wording<V>(work: Promise<V>): Promise<V> {
      try {
        return await work;
      } catch (error) {
        throw wordError(error);
      }
    }
    const before = this.#nested;
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = before ? before.then(() => promise) : promise;
    this.#nested = end;
    try {
      await before;
      this.check("begin nested transaction");
      const savepoint = await wording(this.connection.savepoint());
      const nested = new Transaction(this.connection, this.isolation);
      try {
        const result = await run(nested);
        nested.checkAwaited("commit nested transaction");
        await nested.end();
        this.connection.checkNotDoomed("commit nested transaction");
        await wording(this.connection.release(savepoint));
        this.#commitCallbacks.push(...nested.commitCallbacks);
        return result;
      } catch (error) {
        await nested.end();
        await this.connection.rollBackTo(savepoint);
        throw error;
      }
    } finally {
      resolve();
      if (this.#nested === end) this.#nested = undefined;
    }
  }
}

/** Waits before a retry: longer each time, with jitter. */
export async function backOff(attempt: number): Promise<void> {
  const mostMs = Math.min(1000, 10 * 2 ** attempt);
  await new Promise((resolve) => setTimeout(resolve, mostMs * (0.5 + Math.random() / 2)));
}
