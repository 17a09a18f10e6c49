/**
 * The interface to a database brand; see `dialects/`.
 *
 * @module
 */
import type { DatabaseConnection, Dialect as KyselyDialect, Driver, Kysely } from "kysely";
import type { EdgeGateOptions } from "../transaction/edge_gate.ts";
import type { Execution } from "../transaction/execution.ts";
import type { Admission } from "../transaction/gate.ts";
import type { DatabasePlace } from "../transaction/sql_span.ts";
import type { Grammar } from "./grammar.ts";
import type { Statement, StatementResult } from "./statement.ts";

/** Tables whose names and columns are known at run time only. */
export type AnyTables = Record<string, Record<string, unknown>>;

/** A function that runs statements in a session. */
export type SessionFunction = (own: Kysely<AnyTables>) => Promise<void>;

/** How statements are combined. */
export interface TogetherOptions {
  /** Whether they are a transaction of their own. */
  readonly isWhole: boolean;
}

/** An open database. */
export interface Dialect {
  /** The brand's SQL. */
  readonly grammar: Grammar;

  /** The dialect of Kysely: query compiler and driver. */
  readonly kysely: KyselyDialect;

  /** Where the database is, if that is known. */
  readonly place?: DatabasePlace;

  /** The maximum number of connections, if the dialect limits it. */
  readonly poolMax?: number | undefined;

  /**
   * Creates what limits its users on an edge runtime, where no request waits for another one.
   * Elsewhere, that is a `Gate`.
   */
  createGate?(options: EdgeGateOptions): Admission;

  /** Whether connections can cancel their statement, and close, while it runs. */
  readonly cancels?: boolean;

  /** Whether a connection is known to have one session: a pooler may change it meanwhile. */
  readonly keepsSessions?: boolean;

  /** Returns the number of open connections that are not in use. */
  idle?(): number;

  /** Whether an open transaction blocks all other writers. */
  readonly transactionsLock?: boolean;

  /**
   * Runs a statement synchronously, inside the open transaction if it belongs there. Returns
   * `undefined` if another transaction is open: then the statement must wait.
   */
  runNow?(statement: Statement, inTransaction: boolean): StatementResult | undefined;

  /**
   * Runs a statement on any connection, faster than through Kysely; sets how to cancel it.
   */
  runFree?(statement: Statement, execution: Execution): Promise<StatementResult>;

  /**
   * Takes note of how long the caller of a connection has waited for it, in milliseconds: that is a
   * part of the time for which its first statement may wait.
   */
  waited?(connection: DatabaseConnection, ms: number): void;

  /**
   * Combines statements into one that runs them in their order, up to the first that fails; its
   * rows are their results. Returns `undefined` if they are too long to be combined.
   */
  together?(
    statements: readonly Statement[],
    options: TogetherOptions,
  ): Statement | undefined;

  /**
   * Returns whether the transaction is still open; `undefined` where the database cannot report it.
   */
  isTransactionOpen?(): boolean | undefined;

  /** Runs a script of several statements on the connection of a Kysely. */
  runScript?(script: string, kysely: Kysely<AnyTables>): Promise<void>;

  /**
   * Runs a function in a session of its own, which ends with it; the Kysely is that of the session
   * that has the lock of the schema.
   */
  runApart?(run: SessionFunction, kysely: Kysely<AnyTables>): Promise<void>;

  /** Closes the database, unless it is closed. */
  close?(): void | Promise<void>;
}

/** Returns a Kysely dialect that differs from another one in its driver only. */
export function withDriver(dialect: KyselyDialect, createDriver: () => Driver): KyselyDialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver,
    createIntrospector: (kysely) => dialect.createIntrospector(kysely),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}
