/**
 * The limits of a database, and how it is opened.
 *
 * @module
 */

/** The limits of a pool of connections, and of what they run. */
export interface PoolLimits {
  /** How many connections are kept open. */
  readonly min: number;
  /** How many are open at most. */
  readonly max: number;
  /** How long an operation waits for one, in milliseconds. */
  readonly acquireTimeoutMs: number;
  /** How long a statement may take, in milliseconds; `Infinity` is no limit. */
  readonly statementTimeoutMs: number;
  /** How long a transaction may take, in milliseconds; `Infinity` is no limit. */
  readonly transactionTimeoutMs: number;
  /** The clock of `createdAt` and `updatedAt`, in milliseconds; by default `Date.now`. */
  readonly now?: () => number;
}

/** The limits of a database whose options set none. */
export const DEFAULT_LIMITS: PoolLimits = {
  min: 0,
  max: 10,
  acquireTimeoutMs: 10_000,
  statementTimeoutMs: 30_000,
  transactionTimeoutMs: 60_000,
};

/** How a database is opened. */
export interface OpenOptions extends PoolLimits {
  /** How long a new connection waits for the server, in ms; by default `acquireTimeoutMs`. */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether statements are prepared by name; by default as the database suggests. */
  readonly prepare?: boolean | undefined;
}
