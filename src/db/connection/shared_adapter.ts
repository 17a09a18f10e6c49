/**
 * The adapter of a Kysely dialect, as an open database needs it.
 *
 * @module
 */
import { type DialectAdapter, type Kysely, type RawBuilder, sql } from "kysely";
import type { AnyTables } from "./dialect.ts";

/** The key of the lock that Kysely's migrator takes on PostgreSQL. */
export const POSTGRES_LOCK: RawBuilder<unknown> = sql.raw("3853314791062309107");

/**
 * Lets Kysely take several connections of a database that has one. The gate limits them; a
 * statement inside a transaction must not wait for those that wait for the transaction's end.
 *
 * Where `locksTransaction` returns `true`, the migrator's lock on PostgreSQL ends with the
 * transaction. Its own is of the session, and sets a limit of an hour for all locks until the end.
 */
export function sharing(adapter: DialectAdapter, locksTransaction: () => boolean): DialectAdapter {
  return new Proxy(adapter, {
    get(target, name) {
      if (name === "supportsMultipleConnections") return true;
      if (name === "acquireMigrationLock" && locksTransaction()) return lockTransaction;
      if (name === "releaseMigrationLock" && locksTransaction()) return () => Promise.resolve();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function lockTransaction(kysely: Kysely<AnyTables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${POSTGRES_LOCK})`.execute(kysely);
}
