/**
 * The lock under which one instance at a time changes a schema.
 *
 * @module
 */
import { type Kysely, sql } from "kysely";
import type { DbConnection } from "../connection/connection.ts";
import type { AnyTables } from "../connection/dialect.ts";
import { POSTGRES_LOCK } from "../connection/shared_adapter.ts";
import { warn } from "./warning.ts";

/** The SQL of the key of MySQL's lock; it names the database, as locks are of the whole server. */
export const MYSQL_KEY = "concat('fw_', sha1(lower(database())))";
/**
 * The SQL of the key of the lock of the session in which MySQL runs a script. It is another one
 * than the session that has the lock of the schema, and may outlive it, as when the process is
 * killed.
 */
export const MYSQL_SCRIPT_KEY = `concat(${MYSQL_KEY}, '_script')`;
/** The start of the statements that PostgreSQL runs outside the transaction that has the lock. */
export const POSTGRES_SCRIPT_MARK = "/* fw: script outside a transaction */";

/** How long to wait before PostgreSQL is asked again, in milliseconds. */
const POLL_MS = 100;
/** How long MySQL waits for the lock before it answers, in seconds. */
const POLL_SECONDS = sql.lit(1);
/** How often the log repeats who has the lock, in milliseconds. */
const REPORT_MS = 10_000;
/** How often an idle session runs a statement, in milliseconds. */
const KEEP_ALIVE_MS = 1000;

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
 * waiting, it has no connection, which the holder of the lock may need, and no transaction, which
 * `create index concurrently` would wait for. It also waits for the statements of its role that run
 * outside such a transaction, since they may outlive it.
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
  const script = sql<Holder>`
    select pid as id, usename as name, client_addr as address from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'
    and query like ${sql.lit(`${POSTGRES_SCRIPT_MARK}%`)}`;
  const { result } = await waitFor({
    action,
    async attempt() {
      const done = await connection.transaction(async () => {
        const { rows: [row] } = await lock.execute(kysely);
        if (!row?.is_locked || (await script.execute(kysely)).rows.length > 0) return undefined;
        return { result: await run() };
      }, { isolation: "read committed" }); // which shows what the instance before has changed
      if (!done) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      return done;
    },
    holder: async () =>
      (await holder.execute(kysely)).rows[0] ?? (await script.execute(kysely)).rows[0],
  });
  return result;
}

/** Runs a function while a connection has MySQL's lock, and no other session runs a script. */
export async function underNamedLock<T>(
  run: () => Promise<T>,
  { kysely, action }: SchemaLockOptions,
): Promise<T> {
  const take = (key: string) => takeNamedLock(key, { kysely, action });
  const release = (key: string) => sql`select release_lock(${sql.lit(key)})`.execute(kysely);
  // read once: a migration may leave the session in another database
  const { rows: [keys] } = await sql<{ readonly schema_key: string; readonly script_key: string }>`
    select ${sql.raw(MYSQL_KEY)} as schema_key, ${sql.raw(MYSQL_SCRIPT_KEY)} as script_key`
    .execute(kysely);
  const { schema_key: key, script_key: scriptKey } = keys!;
  await take(key);
  try {
    await take(scriptKey);
    await release(scriptKey);
    return await run();
  } finally {
    await release(key).catch(() => {}); // a session that is lost has no locks
  }
}

/**
 * Runs a function while an idle session has the lock, and a statement in that session from time to
 * time: servers and proxies close sessions that are idle for long. Fails before it runs the
 * function if the session is lost; a later loss makes the next statement of the session fail.
 */
export async function keepingAlive<T>(
  run: () => Promise<T>,
  statement: () => Promise<unknown>,
): Promise<T> {
  let running = statement();
  await running;
  const timer = setInterval(() => {
    running = running.then(statement).catch(() => {}); // the next use of the session fails
  }, KEEP_ALIVE_MS);
  try {
    return await run();
  } finally {
    clearInterval(timer);
    await running;
  }
}

async function takeNamedLock(key: string, { kysely, action }: SchemaLockOptions): Promise<void> {
  const attempt = sql<{ is_locked: unknown }>`
    select get_lock(${sql.lit(key)}, ${POLL_SECONDS}) as is_locked`;
  const holder = sql<Holder>`
    select id, user as name, host as address from information_schema.processlist
    where id = is_used_lock(${sql.lit(key)})`;
  await waitFor({
    action,
    async attempt() {
      const { rows: [row] } = await attempt.execute(kysely);
      if (row?.is_locked === null) throw new Error("get_lock failed");
      return Number(row?.is_locked) === 1 || undefined;
    },
    holder: async () => (await holder.execute(kysely)).rows[0],
  });
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
    warn(
      "Waiting to {action}: session {id} of {name} at {address} is changing the schema",
      { action, ...session },
    );
  }
}
