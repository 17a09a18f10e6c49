/**
 * Runs statements and transactions on an open database.
 *
 * @module
 */
import { CompiledQuery, type Driver, Kysely } from "kysely";
import type { PoolUsage } from "../../platform/pool_usage.ts";
import { within } from "../../platform/time_limit.ts";
import { AmbientDriver } from "../transaction/ambient_driver.ts";
import type { AnyTables, Dialect, SessionFunction } from "./dialect.ts";
import type { Grammar } from "./grammar.ts";
import { partOf, queryOf, resultOf, type Statement, type StatementResult } from "./statement.ts";
import { sharing } from "./shared_adapter.ts";
import { DbError, dbError, type DbFailure } from "../errors.ts";
import { type Admission, Gate } from "../transaction/gate.ts";
import type { PoolLimits } from "./pool_limits.ts";
import { StatementLog } from "./statement_log.ts";
import { StatementSpans } from "../transaction/statement_spans.ts";
import { StatementRunner } from "./statement_runner.ts";
import { LoopTurns } from "../transaction/loop_turns.ts";
import { StatementWatch } from "../transaction/statement_watch.ts";
import { Interruption, type TimeLimits } from "../transaction/time_limits.ts";
import type { TransactionOptions } from "../transaction/transaction.ts";
import type { StatementRules } from "../transaction/transaction_connection.ts";
import { TransactionRunner } from "../transaction/transaction_runner.ts";

/** How long closing waits for operations in progress, in milliseconds. */
const CLOSE_TIMEOUT_MS = 10_000;
const MAX_RETRIES = 5;
const PING: Statement = { sql: "select 1", parameters: [], reads: true };

/** An open database, as `DbOptions.open` returns it; a service uses it. */
export interface OpenDatabase {
  /** Closes it. */
  close(): Promise<void>;
}

/** The result of each of several statements. */
export type ResultsOf<S extends readonly Statement[]> = {
  readonly [I in keyof S]: StatementResult;
};

/** Options of {@linkcode DbConnection}. */
export interface ConnectionOptions extends PoolLimits {
  /** Closes what was opened with the database, such as its replicas, after the database. */
  readonly closeOthers?: (() => Promise<void> | undefined) | undefined;
}

/** An open database, its driver and its transactions. */
export class DbConnection implements OpenDatabase {
  /** Kysely on the database; inside a transaction, on its connection. */
  readonly kysely: Kysely<AnyTables>;
  /** The SQL of the database's brand. */
  readonly grammar: Grammar;
  /** The maximum number of connections. */
  readonly poolMax: number;
  /** The clock of the times that repositories set, in milliseconds. */
  readonly now: () => number;
  readonly #dialect: Dialect;
  readonly #driver: AmbientDriver;
  readonly #kyselyDriver: Driver;
  readonly #gate: Admission;
  readonly #watch: StatementWatch;
  readonly #transactions: TransactionRunner;
  readonly #statements: StatementRunner;
  readonly #log = new StatementLog();
  readonly #spans: StatementSpans;
  readonly #pingTimeoutMs: number;
  readonly #closeOthers: (() => Promise<void> | undefined) | undefined;
  #closing: Promise<void> | undefined;

  /** Takes over an open database. */
  constructor(
    dialect: Dialect,
    { max, acquireTimeoutMs, statementTimeoutMs, transactionTimeoutMs, now = Date.now, ...others }:
      ConnectionOptions,
  ) {
    this.#dialect = dialect;
    this.#closeOthers = others.closeOthers;
    this.grammar = dialect.grammar;
    this.#pingTimeoutMs = acquireTimeoutMs;
    this.poolMax = dialect.poolMax ?? max;
    this.now = now;
    const limits = {
      max: this.poolMax,
      timeoutMs: acquireTimeoutMs,
      statementTimeoutMs,
      transactionTimeoutMs,
      goneReason: () => this.#watch.goneReason,
    };
    const isOnEdge = dialect.createGate !== undefined;
    this.#gate = dialect.createGate?.(limits) ?? new Gate(limits);
    this.#spans = new StatementSpans({
      system: this.grammar.system,
      place: dialect.place,
      errorType: (error) => error instanceof TypeError ? error.name : this.#explain(error).code,
    });
    this.#kyselyDriver = this.#spans.ofTransactions(dialect.kysely.createDriver());
    this.#watch = new StatementWatch({
      timeoutMs: statementTimeoutMs,
      scope: () => this.#transactions.scope,
      cancels: dialect.cancels === true,
      isOnEdge,
      // its drivers run statements inside the process; requests on the edge share no promise
      turns: this.grammar.brand === "SQLite" && !isOnEdge
        ? new LoopTurns(() => this.#transactions.checkLimits())
        : undefined,
    });
    const rules: StatementRules = {
      watch: this.#watch,
      spans: this.#spans,
      explain: (error) => this.#explain(error),
      dooms: (failure) =>
        failure.code === "StatementTimeout" || this.grammar.dooms(failure) ||
        dialect.isTransactionOpen?.() === false,
    };
    this.#driver = new AmbientDriver({
      driver: this.#kyselyDriver,
      gate: this.#gate,
      scope: () => this.#transactions.scope,
      rules,
      timeoutMs: transactionTimeoutMs,
      waited: (connection, ms) => dialect.waited?.(connection, ms),
      close: () => this.close(),
    });
    this.#transactions = new TransactionRunner({
      ambient: this.#driver,
      driver: this.#kyselyDriver,
      rules,
      defaultIsolation: this.grammar.defaultIsolation,
      timeoutMs: transactionTimeoutMs,
    });
    this.#statements = new StatementRunner({
      dialect,
      driver: this.#driver,
      gate: this.#gate,
      watch: this.#watch,
      scope: () => this.#transactions.scope,
      failure: (action, error) => this.failure(action, error),
    });
    this.kysely = this.createKysely((driver) => driver);
  }

  /** How its connections are used. */
  get usage(): PoolUsage {
    return {
      name: this.#dialect.place?.pool ?? this.grammar.system,
      used: this.#gate.inside,
      idle: this.#dialect.idle?.(),
      waiting: this.#gate.waiting,
      max: this.poolMax,
    };
  }

  /** How the connections of all its databases are used: those of replicas too. */
  get usages(): readonly PoolUsage[] {
    return [this.usage];
  }

  /** The database without its replicas. */
  get primary(): DbConnection {
    return this;
  }

  /** Whether a connection is known to have one session, as without a pooler. */
  get keepsSessions(): boolean {
    return this.#dialect.keepsSessions === true;
  }

  /** Aborts when the caller has reached a limit in time. */
  get signal(): AbortSignal | undefined {
    return this.#transactions.scope.signal;
  }

  /** Whether an open transaction blocks all other writers. */
  get transactionsLock(): boolean {
    return this.#dialect.transactionsLock === true;
  }

  /** Whether the caller is inside a transaction. */
  get isInTransaction(): boolean {
    return this.#transactions.scope.transaction !== undefined;
  }

  /**
   * Runs a statement; `action` is for the error message, as in `"create users"`. Inside a
   * transaction it is part of that transaction.
   *
   * @throws {DbError} if it fails
   */
  execute(action: string, statement: Statement): StatementResult | Promise<StatementResult> {
    return this.#noting(statement, () => this.#statements.execute(action, statement));
  }

  /**
   * Whether a statement of the caller waits for a connection, and may then be run together with
   * others: it belongs to no transaction, has no limits of its own, and its request may wait for
   * another one.
   */
  get canShareWait(): boolean {
    const { runNow, createGate } = this.#dialect;
    if (!this.#gate.isFull || runNow || createGate) return false;
    const { transaction, signal } = this.#transactions.scope;
    return !transaction && !signal;
  }

  /**
   * Runs a statement that is built when a connection is free.
   *
   * @throws {DbError} if it fails
   */
  executeWhenFree(action: string, build: () => Statement): Promise<StatementResult> {
    return this.#spans.within((start) =>
      this.#statements.executeAlone(action, () => {
        const statement = build();
        start(statement.sql);
        return statement;
      })
    );
  }

  /** Returns a function that runs parts of an operation: all of them read from the same server. */
  parts(): <T>(part: () => T) => T {
    return (part) => part();
  }

  /** Creates a Kysely on the database, with a driver in the place of its own. */
  createKysely(driverOf: (driver: Driver) => Driver): Kysely<AnyTables> {
    const { kysely: dialect } = this.#dialect;
    return new Kysely({
      dialect: {
        createAdapter: () => sharing(dialect.createAdapter(), () => this.#locksTransaction),
        createDriver: () => driverOf(this.#driver),
        createIntrospector: (kysely) => dialect.createIntrospector(kysely),
        createQueryCompiler: () => dialect.createQueryCompiler(),
      },
      log: ({ level, query, queryDurationMillis }) => {
        if (!this.#log.isOn) return;
        this.#log.note(query.sql, { ms: queryDurationMillis, failed: level === "error" });
      },
    });
  }

  /** Runs work for several callers: it goes on when the client of one leaves. */
  shared<T>(work: () => Promise<T>): Promise<T> {
    return this.#watch.shared(work);
  }

  /**
   * Runs a function inside a transaction, and commits it if the function does not fail. Inside
   * another transaction it is a savepoint, which can be rolled back alone.
   *
   * @throws {RangeError} if `retries` is not a whole number of 0 or more
   * @throws {TypeError} if an option or the isolation level is unknown; or if, inside another
   * transaction, the level is stricter than that one's; or if the function did not
   * await what it began
   * @throws {DbError} if it cannot be begun or committed; and whatever the function throws
   */
  transaction<T>(run: () => T | Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#transactions.run(run, options);
  }

  /**
   * Runs work outside the transaction of the caller, on another connection. Where an open
   * transaction blocks all other writers, it would wait for it: there, the work is part of it.
   */
  outside<T>(work: () => Promise<T>): Promise<T> {
    return this.transactionsLock ? work() : this.#transactions.outside(work);
  }

  /** Runs work that the function of the caller's transaction, if any, has to await. */
  during<T>(work: () => Promise<T>): Promise<T> {
    return this.#transactions.scope.transaction?.during(work) ?? work();
  }

  /** Registers a callback for after the commit of the caller's transaction. */
  afterCommit(callback: () => unknown): Promise<void> {
    return this.#transactions.afterCommit(callback);
  }

  /**
   * Runs a function inside the open transaction, or inside a new one, which is retried after a
   * deadlock: all of its statements take effect, or none.
   */
  async atomically<T>(run: () => Promise<T>): Promise<T> {
    if (this.isInTransaction) return await run();
    return await this.transaction(run, { retries: MAX_RETRIES });
  }

  /**
   * Runs a function as `atomically` does, but inside an open transaction in a savepoint: a failure
   * undoes only what the function did.
   */
  inSavepoint<T>(run: () => Promise<T>): Promise<T> {
    return this.transaction(run, this.isInTransaction ? {} : { retries: MAX_RETRIES });
  }

  /**
   * Runs statements in their order: inside the open transaction, or inside a new one, which is
   * retried after a deadlock. Where the driver can, it sends them at once.
   *
   * @throws {DbError} if one fails: the others do not take effect, and later ones are not run
   */
  async executeTogether<const S extends readonly Statement[]>(
    action: string,
    statements: S,
  ): Promise<ResultsOf<S>> {
    const isWhole = !this.isInTransaction;
    const combined = this.#dialect.together?.(statements, { isWhole });
    if (!combined) {
      return await this.atomically(async () => {
        const results: StatementResult[] = [];
        for (const statement of statements) results.push(await this.execute(action, statement));
        return results as ResultsOf<S>;
      });
    }
    const main = statements.find(({ reads }) => !reads)?.sql;
    const together = { ...combined, main };
    const { rows } = isWhole
      ? await this.#noting(together, () => this.#executeWhole(action, together))
      : await this.execute(action, together);
    const results = statements.map((statement, index) => partOf(rows[index] ?? [], statement));
    return results as ResultsOf<S>;
  }

  /** Runs an operation within limits in time, beside those of the database. */
  limited<T>(limits: TimeLimits, work: () => Promise<T>): Promise<T> {
    return this.#transactions.limited(limits, work);
  }

  /** Runs an operation that writes, as `limited` does. */
  writing<T>(limits: TimeLimits, work: () => Promise<T>): Promise<T> {
    return this.limited(limits, work);
  }

  /** Runs work whose statements and transactions may take as long as they need. */
  unlimited<T>(work: () => Promise<T>): Promise<T> {
    return this.#transactions.unlimited(work);
  }

  /** Returns the error of an action that failed, as in `"create users"`. */
  failure(action: string, error: unknown): DbError {
    return dbError(action, this.#explain(error), error);
  }

  /**
   * Checks whether the database answers, for at most the time that an operation waits
   * for a connection.
   *
   * @throws {DbError} if it does not
   */
  async ping(): Promise<void> {
    const action = "reach the database";
    const answer = Promise.resolve(this.execute(action, PING));
    if (!await within(answer, this.#pingTimeoutMs)) throw dbError(action, { code: "PoolTimeout" });
  }

  /** Runs a script of several statements on the connection of a Kysely. */
  async runScript(script: string, kysely: Kysely<AnyTables>): Promise<void> {
    const text = script.replace(/^\uFEFF/, ""); // a byte order mark
    if (this.#dialect.runScript) await this.#dialect.runScript(text, kysely);
    else await kysely.executeQuery(CompiledQuery.raw(text));
  }

  /** Runs a function in a session that ends with it, or else in that of a Kysely. */
  async runApart(run: SessionFunction, kysely: Kysely<AnyTables>): Promise<void> {
    await (this.#dialect.runApart?.(run, kysely) ?? run(kysely));
  }

  /**
   * Waits up to 10 s for operations and transactions in progress, then closes the database. Later
   * operations fail with `PoolClosed`. Further calls have no effect.
   */
  close(): Promise<void> {
    if (this.isInTransaction) {
      return Promise.reject(new TypeError("Cannot close database: a transaction is open"));
    }
    return this.#closing ??= this.#close();
  }

  /** Whether the migrator's lock can end with the transaction that it is inside. */
  get #locksTransaction(): boolean {
    return this.isInTransaction && this.grammar.brand === "PostgreSQL";
  }

  async #close(): Promise<void> {
    await within(this.#gate.close(), CLOSE_TIMEOUT_MS);
    this.#transactions.close();
    this.#watch.close();
    await this.#driver.init();
    await this.#kyselyDriver.destroy();
    // Kysely closes only a driver that it has used.
    await this.#dialect.close?.();
    await this.#closeOthers?.();
  }

  /** Runs a statement in its span, and logs it. */
  #noting<T>({ sql, main = sql }: Statement, run: () => T | Promise<T>): T | Promise<T> {
    if (!this.#spans.isOn) return this.#log.during(sql, run);
    return this.#spans.during(main, () => this.#log.during(sql, run));
  }

  async #executeWhole(action: string, statement: Statement): Promise<StatementResult> {
    try {
      return resultOf(await this.#transactions.runWhole(queryOf(statement), MAX_RETRIES));
    } catch (error) {
      throw this.failure(action, error);
    }
  }

  #explain(error: unknown): DbFailure {
    const interruption = error instanceof DbError ? error.cause : error; // of a transaction's begin
    if (interruption instanceof Interruption) return interruption.failure;
    return error instanceof DbError ? error : this.grammar.explain(error ?? {});
  }
}
