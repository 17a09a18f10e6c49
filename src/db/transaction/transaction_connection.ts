/**
 * The connection of an open transaction.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection, type QueryResult } from "kysely";
import type { StatementSpans } from "./statement_spans.ts";
import type { StatementWatch } from "./statement_watch.ts";
import type { Interruption } from "./time_limits.ts";
import { hasEnded, OpenStream } from "./open_stream.ts";
import { DbError, dbError, type DbErrorCode, type DbFailure } from "../errors.ts";

/** A point of a transaction to go back to. */
export interface Savepoint {
  /** Its name in SQL. */
  readonly name: string;
  /** The failure before it, after which the transaction could not be committed. */
  readonly doom: Doom | undefined;
}

/** Why a transaction cannot be committed. */
interface Doom {
  readonly code: DbErrorCode;
  readonly error: unknown;
  readonly reason?: string;
}

/** How statements run and fail. */
export interface StatementRules {
  /** Limits the time of statements. */
  readonly watch: StatementWatch;
  /** Starts the spans of statements. */
  readonly spans: StatementSpans;
  /** Explains an error of a statement. */
  readonly explain: (error: unknown) => DbFailure;
  /** Checks whether a failed statement makes its transaction impossible to commit. */
  readonly dooms: (failure: DbFailure) => boolean;
}

/** The failures after which a retry may succeed. */
const PASSING: readonly DbErrorCode[] = [
  "SerializationFailure",
  "StatementTimeout",
  "ConnectionLost",
  "PoolTimeout",
  "DiskFull",
  "ReadOnly",
];

/** Undoes what came before it, so it runs after a failure too. */
const GOES_BACK = /^\s*rollback\s+to\b/i;

/** The connection of an open transaction. */
export class TransactionConnection {
  readonly #connection: DatabaseConnection;
  readonly #rules: StatementRules;
  #doom: Doom | undefined;
  #last: Promise<void> | undefined;
  readonly #stream = new OpenStream();
  #pending = 0;
  #isOver = false;
  #isExpired = false;
  #savepoints = 0;

  /** Takes over a connection with an open transaction. */
  constructor(connection: DatabaseConnection, rules: StatementRules) {
    this.#connection = connection;
    this.#rules = rules;
  }

  /**
   * Fails after a failure that makes the transaction impossible to commit. The database would roll
   * it back silently at the commit, or has already done so.
   *
   * @throws {DbError} with the failure as its cause; `Database`, unless a retry may succeed
   */
  checkNotDoomed(action: string): void {
    if (!this.#doom) return;
    const { code, error, reason = "an earlier statement of its transaction failed" } = this.#doom;
    throw new DbError(code, `Cannot ${action}: ${reason}`, { cause: error });
  }

  /**
   * Fails if a statement cannot run.
   *
   * @throws {DbError} if an earlier one has made the transaction impossible to commit
   * @throws {TypeError} if a stream of the transaction is open
   */
  checkRuns(action: string): void {
    this.checkNotDoomed(action);
    this.#stream.check(action);
  }

  /**
   * Fails while statements run or are queued: they would be outside the transaction.
   *
   * @throws {TypeError} if the transaction's function began statements that it did not await
   */
  checkAwaited(action: string): void {
    if (this.#pending > 0) throw notAwaited(action);
  }

  /**
   * Runs a query, after those that were begun before: a driver cancels one at a time.
   *
   * @throws {DbError} if an earlier one has made the transaction impossible to commit
   * @throws {TypeError} if the transaction has ended meanwhile, or one of its streams is open
   */
  async run<R>(query: CompiledQuery, action = "run query"): Promise<QueryResult<R>> {
    const { watch } = this.#rules;
    this.#pending += 1;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = before ? before.then(() => promise) : promise;
    try {
      if (before) await this.noting(() => watch.wait(before));
      if (GOES_BACK.test(query.sql)) await this.#stream.close();
      // The server may have rolled back, and the connection may be in use by another transaction.
      this.#checkInTurn(query, action);
      return await this.noting(async () => {
        const execution = watch.begin();
        const result = await watch.run(
          this.#connection,
          () => this.#connection.executeQuery<R>(query),
          execution,
        );
        // nothing can follow it: its connection is given up
        if (execution.interruption) throw execution.interruption;
        return result;
      });
    } finally {
      this.#pending -= 1;
      resolve();
    }
  }

  /** Refuses the statements that are queued, closes a stream, and waits for what runs. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#stream.close();
    await this.#last;
  }

  /**
   * Runs a query and yields its rows in chunks. While it is open, other statements are refused.
   *
   * @throws {TypeError} if the transaction ends before, or another stream of it is open
   */
  async *stream<R>(
    query: CompiledQuery,
    chunkSize: number,
  ): AsyncIterableIterator<QueryResult<R>> {
    const { watch } = this.#rules;
    if (this.#last) await watch.wait(this.#last);
    this.#checkInTurn(query, "run query");
    const chunks = watch.stream(
      this.#connection,
      this.#connection.streamQuery<R>(query, chunkSize),
    );
    yield* this.#stream.read({
      next: () => this.noting(() => chunks.next()),
      return: () => chunks.return!(),
    });
  }

  /** Runs a function on the connection, and records its failure. */
  async noting<T>(run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw this.#note(error);
    }
  }

  /** Sets a savepoint. */
  async savepoint(): Promise<Savepoint> {
    const savepoint = { name: `fw_${++this.#savepoints}`, doom: this.#doom };
    await this.#runTraced(`savepoint ${savepoint.name}`);
    return savepoint;
  }

  /** Releases a savepoint. */
  async release({ name }: Savepoint): Promise<void> {
    await this.#stream.close();
    await this.#runTraced(`release savepoint ${name}`);
  }

  /**
   * Rolls back to a savepoint, and forgets failures since then. If that fails, such as after a
   * deadlock that has undone everything, the transaction cannot be committed.
   */
  async rollBackTo(savepoint: Savepoint): Promise<void> {
    try {
      await this.#runTraced(`rollback to savepoint ${savepoint.name}`);
      this.#revive(savepoint.doom);
      await this.release(savepoint);
    } catch (error) {
      this.#doom ??= doomOf(this.#rules.explain(error), error);
    }
  }

  /** Whether its limit in time was reached: it has been rolled back. */
  get isExpired(): boolean {
    return this.#isExpired;
  }

  /** Prevents a commit and further statements: the transaction has reached its limit in time. */
  expire(error: Interruption): void {
    this.#isExpired = true;
    this.#doom ??= { code: error.failure.code, error, reason: "its transaction took too long" };
  }

  /** Forgets failures, after a rollback to a savepoint that the application has set. */
  revive(): void {
    this.#revive(undefined);
  }

  /** Forgets failures, except that the transaction has expired meanwhile. */
  #revive(doom: Doom | undefined): void {
    if (!this.#isExpired) this.#doom = doom;
  }

  async #runTraced(sql: string): Promise<void> {
    await this.#rules.spans.during(sql, () => this.run(CompiledQuery.raw(sql)));
  }

  #checkInTurn({ sql }: CompiledQuery, action: string): void {
    const goesBack = GOES_BACK.test(sql) && this.#doom?.code !== "StatementTimeout";
    if (!goesBack) this.checkRuns(action);
    if (this.#isOver) throw hasEnded(action);
  }

  #note(error: unknown): unknown {
    const failure = this.#rules.explain(error);
    if (this.#rules.dooms(failure)) this.#doom ??= doomOf(failure, error);
    return error;
  }
}

function doomOf({ code }: DbFailure, error: unknown): Doom {
  return { code: PASSING.includes(code) ? code : "Database", error };
}

/** Returns the error of a commit that comes before the end of what the transaction has begun. */
export function notAwaited(action: string): TypeError {
  return new TypeError(`Cannot ${action}: its function did not await what it began`);
}

/**
 * Returns the `DbError` of a failed query of Kysely; errors of building a query stay as they are.
 */
export function queryError(error: unknown, { explain }: StatementRules): unknown {
  if (error instanceof DbError || error instanceof TypeError) return error;
  return dbError("run query", explain(error), error);
}
