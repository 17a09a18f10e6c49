/**
 * The lock under which one instance at a time changes a schema.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { type Kysely, sql } from "kysely";
import type { DbConnection } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { POSTGRES_LOCK } from "../connection/shared_adapter.ts";

/** The key of the lock that Kysely's migrator takes on MySQL. */
const MYSQL_KEY = sql.lit("ea586330-2c93-47c8-908d-981d9d270f9d");

/** How long to wait before PostgreSQL is asked again, in milliseconds. */
const POLL_MS = 100;
/** How long MySQL waits for the lock before it answers, in seconds. */
const POLL_SECONDS = sql.lit(1);
/** How often the log repeats who has the lock, in milliseconds. */
const REPORT_MS = 10_000;

/** Whose lock is taken, and for what. */
export interface SchemaLockOptions {
  /** The Kysely that changes the schema. */
  readonly kysely: Kysely<AnyTables>;
  /** The action, for the log: `"migrate"`. */
  readonly action: string;
}

/**
 * Runs a function inside a transaction that has PostgreSQL's lock, which ends with it: a lock of
 * the session would stay with a connection of a pooler, for whichever client gets it next. While
 * waiting, it has no connection, which the holder of the lock may need.
 */
export async function underTransactionLock<T>(
  run: () => Promise<T>,
  { connection, action }: { readonly connection: DbConnection; readonly action: string },
): Promise<T> {
  const { kysely } = connection;
  const lock = sql<{ is_locked: boolean }>`
    select pg_try_advisory_xact_lock(${POSTGRES_LOCK}) as is_locked`;
  const holder = sql<Holder>`
    select pid as id, usename as name, client_addr as address
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and objsubid = 1
    and (classid::int8 << 32) | objid::int8 = ${POSTGRES_LOCK}
    and database = (select oid from pg_database where datname = current_database())`;
  const { result } = await waitFor({
    action,
    async attempt() {
      const done = await connection.transaction(async () => {
        const { rows: [row] } = await lock.execute(kysely);
        return row?.is_locked ? { result: await run() } : undefined;
      }, { isolation: "read committed" }); // which shows what the instance before has changed
      if (!done) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      return done;
    },
    holder: async () => (await holder.execute(kysely)).rows[0],
  });
  return result;
}

/** Runs a function while a connection has MySQL's lock. */
export async function underNamedLock<T>(
  run: () => Promise<T>,
  { kysely, action }: SchemaLockOptions,
): Promise<T> {
  const attempt = sql<{ is_locked: unknown }>`
    select get_lock(${MYSQL_KEY}, ${POLL_SECONDS}) as is_locked`;
  const holder = sql<Holder>`
    select id, user as name, host as address from information_schema.processlist
    where id = is_used_lock(${MYSQL_KEY})`;
  await waitFor({
    action,
    async attempt() {
      const { rows: [row] } = await attempt.execute(kysely);
      if (row?.is_locked === null) throw new Error("get_lock failed");
      return Number(row?.is_locked) === 1 || undefined;
    },
    holder: async () => (await holder.execute(kysely)).rows[0],
  });
  try {
    return await run();
  } finally {
    await sql`select release_lock(${MYSQL_KEY})`.execute(kysely);
  }
}

/** A session of the database that has the lock. */
interface Holder {
  readonly id: number;
  readonly name: string;
  readonly address: string | null;
}

interface Wait<T> {
  readonly action: string;
  /** Takes the lock, or returns `undefined` after a moment. */
  readonly attempt: () => Promise<T | undefined>;
  readonly holder: () => Promise<Holder | undefined>;
}

/** Waits for a lock, and logs who has it, under the category `fw.db`. */
async function waitFor<T>({ action, attempt, holder }: Wait<T>): Promise<T> {
  let reportAtMs = performance.now() + REPORT_MS;
  for (;;) {
    const taken = await attempt();
    if (taken !== undefined) return taken;
    if (performance.now() < reportAtMs) continue;
    reportAtMs = performance.now() + REPORT_MS;
    const session = await holder();
    if (!session) continue; // it has just released the lock, or this user may not see it
    getLogger(["fw", "db"]).warn(
      "Waiting to {action}: session {id} of {name} at {address} is changing the schema",
      { action, ...session },
    );
  }
}
