/**
 * Reads that lock their rows.
 *
 * @module
 */
import { sql, type SqlBool } from "kysely";
import type { LockOptions, ReadLock } from "../model/row_lock.ts";
import type { Operation } from "./operation.ts";
import type { Subquery } from "./related_rows.ts";

/** The options of a read that locks its rows; their types are checked here. */
export interface LockingOptions extends LockOptions {
  /** Columns by which rows are distinct: such rows cannot be locked. */
  readonly distinct?: unknown;
}

/**
 * Reads the options of a lock, and returns what adds it to a query.
 *
 * On SQLite it adds nothing: a transaction begins as the only writer. One of another driver may
 * begin as a reader; it becomes a writer here, before it reads what it is about to change.
 *
 * @throws {TypeError} outside a transaction, and if an option is invalid or contradicts another
 * @throws {DbError} on SQLite, if the transaction cannot become the writer
 */
export async function readLock(
  options: LockingOptions,
  operation: Operation,
): Promise<(query: Subquery) => Subquery> {
  const lock = checkLock(options, operation);
  const { table: { source, connection }, action } = operation;
  const { grammar, transactionsLock } = connection;
  const locking = grammar.locking?.(lock);
  operation.section(`lock ${locking}`);
  if (locking !== undefined) return (query) => query.modifyEnd(sql.raw(locking));
  if (!transactionsLock) {
    const none = connection.kysely.deleteFrom(source).where(sql<SqlBool>`1 = 0`);
    await connection.execute(action, { ...none.compile(), reads: false });
  }
  return (query) => query;
}

function checkLock(
  { lock, skipLocked = false, noWait = false, distinct }: LockingOptions,
  operation: Operation,
): ReadLock {
  for (const [name, value] of Object.entries({ skipLocked, noWait })) {
    if (typeof value !== "boolean") throw operation.mistake(`${name} is not a boolean`);
  }
  if (lock !== "update" && lock !== "share") {
    throw operation.mistake('lock is not "update" or "share"');
  }
  if (skipLocked && noWait) throw operation.mistake("skipLocked and noWait exclude each other");
  if (distinct !== undefined) throw operation.mistake("distinct rows cannot be locked");
  if (!operation.table.connection.isInTransaction) {
    throw operation.mistake("a lock needs a transaction, such as db.transaction()");
  }
  return { lock, wait: skipLocked ? "skip locked" : noWait ? "nowait" : undefined };
}
