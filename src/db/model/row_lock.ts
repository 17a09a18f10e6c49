/**
 * Locks of rows: their options, and their SQL.
 *
 * @module
 */

/**
 * How a read locks rows until the end of its transaction: `"update"` against the locks and the
 * changes of others, `"share"` against their changes only.
 */
export type RowLock = "update" | "share";

/**
 * The options of a read that locks its rows; it must be inside `transaction` of the service. Only
 * rows of the model are locked, not those of relations. On SQLite, a transaction is the only
 * writer, so that a lock of a row adds nothing to it.
 */
export interface LockOptions {
  /** How to lock the rows; they are not locked unless given. */
  readonly lock?: RowLock | undefined;
  /** Whether to leave out the rows that others have locked, in place of waiting for them. */
  readonly skipLocked?: boolean | undefined;
  /** Whether to fail with `PoolTimeout` if others have locked a row, in place of waiting. */
  readonly noWait?: boolean | undefined;
}

/** A lock as a read requires it. */
export interface ReadLock {
  /** How to lock the rows. */
  readonly lock: RowLock;
  /** What to do about rows that others have locked, in place of waiting for them. */
  readonly wait: "skip locked" | "nowait" | undefined;
}

/** Checks whether options mention a lock. */
export function mentionsLock({ lock, skipLocked, noWait }: LockOptions): boolean {
  return lock !== undefined || skipLocked !== undefined || noWait !== undefined;
}

/** Returns the end of a query that locks its rows; `share` is how a shared lock is written. */
export function lockingClause({ lock, wait }: ReadLock, share = "for share"): string {
  const clause = lock === "update" ? "for update" : share;
  return wait ? `${clause} ${wait}` : clause;
}
