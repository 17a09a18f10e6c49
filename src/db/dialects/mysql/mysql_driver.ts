/**
 * MySQL and MariaDB through `mysql2`.
 *
 * @module
 */
import {
  type Kysely,
  MysqlDialect,
  MysqlDriver,
  type MysqlPool,
  type MysqlPoolConnection,
  sql,
} from "kysely";
import type { Pool, PoolConnection, PoolOptions, RowDataPacket } from "mysql2";
import type { PoolLimits } from "../../connection/pool_limits.ts";
import { DbConnection } from "../../connection/connection.ts";
import {
  type AnyTables,
  type Dialect,
  type SessionFunction,
  withDriver,
} from "../../connection/dialect.ts";
import { CANCEL_MS } from "../../transaction/statement_watch.ts";
import { markTransactions } from "../../transaction/transaction_state.ts";
import { DbError } from "../../errors.ts";
import { keepingAlive, MYSQL_SCRIPT_KEY } from "../../migrate/schema_lock.ts";
import { exactArrays, MYSQL_RECORDS, mysqlGrammar, type MysqlSettings } from "./mysql.ts";
import { MysqlConnection } from "./mysql_connection.ts";
import { explainMysqlError } from "./mysql_errors.ts";
import { MysqlPoolKeeper } from "./mysql_pool.ts";
import { together } from "./mysql_together.ts";
import type { DatabasePlace } from "../../transaction/sql_span.ts";
import type { DatabaseUrl } from "../server/database_url.ts";
import { loadDriver, openServerError, placeOf } from "../server/open_server.ts";
import { readTlsOptions } from "../server/tls.ts";

type Mysql = typeof import("mysql2");

const MAX_PREPARED = 1000;
/**
 * The encoding that the driver escapes values for, which a server may replace; UTC; values that do
 * not fit are errors; a key of 0 is 0; orders compare more of a text than 1024 bytes, so much that
 * the sort buffer has room for eight (the server needs 15 rows of them).
 */
const SESSION = "set names utf8mb4, time_zone = '+00:00', sql_mode = " +
  "'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO', " +
  "max_sort_length = greatest(@@max_sort_length, least(16384, @@sort_buffer_size div (15 * 8)))";
/**
 * Collations by code point that respect trailing spaces: MySQL's and MariaDB's; the last
 * is a fallback.
 */
const COLLATIONS = ["utf8mb4_0900_bin", "utf8mb4_nopad_bin", "utf8mb4_bin"];
/** The script before may have the lock for a moment, until the server has closed its connection. */
const LOCK_SCRIPT = `select get_lock(${MYSQL_SCRIPT_KEY}, 60) as is_locked`;
const INSPECT = "select collation_name as name, version() as version " +
  "from information_schema.collations where collation_name in (?)";

/**
 * Opens a MySQL database, and connects to it once, or as often as the pool's minimum.
 *
 * @throws {DbError} if it cannot be reached, or rejects the connection
 */
export async function openMysql(
  { server: url, settings: { tls } }: DatabaseUrl,
  limits: PoolLimits,
): Promise<Dialect> {
  const [{ default: mysql }, { Buffer }] = await loadDriver(
    "mysql2",
    () => Promise.all([import("mysql2"), import("node:buffer")]),
  );
  const settings: PoolOptions = {
    uri: url.href,
    charset: "utf8mb4",
    timezone: "Z",
    supportBigNumbers: true,
    jsonStrings: true,
    connectTimeout: limits.acquireTimeoutMs,
    maxPreparedStatements: MAX_PREPARED,
    multipleStatements: true, // of `together` only; see `MysqlConnection`
  };
  const driver: OpenedDriver = { mysql, Buffer, limits, place: placeOf(url, 3306) };
  try {
    if (!tls) return await openPool(settings, driver);
    const ssl = { ...await readTlsOptions(tls), verifyIdentity: tls.verify === "host" };
    try {
      return await openPool({ ...settings, ssl }, driver);
    } catch (error) {
      if (!tls.isOptional || !hasNoTls(error)) throw error;
      return await openPool(settings, driver);
    }
  } catch (error) {
    if (error instanceof DbError) throw error;
    throw openServerError(url, {
      brand: "MySQL",
      cause: error,
      failure: explainMysqlError(error),
    });
  }
}

interface OpenedDriver {
  readonly mysql: Mysql;
  readonly Buffer: typeof import("node:buffer").Buffer;
  readonly limits: PoolLimits;
  readonly place: DatabasePlace;
}

async function openPool(
  settings: PoolOptions,
  driver: OpenedDriver,
): Promise<Dialect> {
  const { mysql, Buffer, place, limits } = driver;
  const { min, max, acquireTimeoutMs: timeout } = limits;
  // `MysqlPoolKeeper` closes idle connections: the driver's limit of them ignores how long
  // they are idle.
  const pool = mysql.createPool({ ...settings, connectionLimit: max, maxIdle: max });
  const connections = new MysqlPoolKeeper(pool, min);
  try {
    const server = await connect(pool, { times: Math.max(1, min), timeout });
    const config = {
      pool: preparing(pool, { connections, timeout }),
      controlConnection: () => mysql.createConnection({ ...settings, connectTimeout: CANCEL_MS }),
    };
    const { TypedParameter } = mysql; // a getter that looks for the module each time
    const grammar = mysqlGrammar({
      ...server,
      // A number would be sent as a double, which LIMIT rejects and long keys do not fit.
      integer: (value) => TypedParameter.BIGINT(value as number | bigint),
      bytes: (value) => Buffer.from(value as Uint8Array),
    });
    return {
      grammar: { ...grammar, records: MYSQL_RECORDS, arrays: exactArrays(grammar) },
      cancels: true,
      place,
      idle: () => connections.idle,
      kysely: withDriver(
        new MysqlDialect(config),
        () => markTransactions(new MysqlDriver(config)),
      ),
      together,
      runScript: (script, kysely) => runScript(script, { kysely, mysql, settings }),
      async runApart(run, kysely) {
        const alone = { ...limits, min: 0, max: 1 };
        const dialect = await openPool(settings, { ...driver, limits: alone });
        await runFunction(run, { kysely, session: new DbConnection(dialect, alone) });
      },
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

/** Checks whether the driver refused a server that has no TLS. */
function hasNoTls(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "HANDSHAKE_NO_SSL_SUPPORT";
}

/**
 * Adapts a pool to Kysely. Statements with values are prepared once; connections are set up before
 * their first use.
 */
function preparing(
  pool: Pool,
  { connections, timeout }: { readonly connections: MysqlPoolKeeper; readonly timeout: number },
): MysqlPool {
  // Kysely identifies a connection by its object.
  const faces = new WeakMap<PoolConnection, MysqlPoolConnection>();
  return {
    end: (callback) => void connections.close().then(() => callback(undefined), callback),
    getConnection: (callback) =>
      pool.getConnection((error, connection) => {
        // Kysely ignores the connection if there is an error.
        if (error) return callback(error, undefined as never);
        const known = faces.get(connection);
        if (known) return callback(null, known);
        connection.query({ sql: SESSION, timeout }, (error) => {
          if (error) {
            connections.abandon(connection, { isHung: true });
            return callback(error, undefined as never);
          }
          // Kysely uses only its members; its type of a query is narrower than the driver's.
          const own: unknown = new MysqlConnection(connection, connections.abandon);
          const face = own as MysqlPoolConnection;
          faces.set(connection, face);
          callback(null, face);
        });
      }),
  };
}

/**
 * Opens connections at the same time, and keeps them; returns the best collation and the version of
 * the server.
 */
async function connect(
  pool: Pool,
  { times, timeout }: { readonly times: number; readonly timeout: number },
): Promise<Pick<MysqlSettings, "collation" | "version">> {
  const connecting = Array.from({ length: times }, () => pool.promise().getConnection());
  const settled = await Promise.allSettled(connecting);
  for (const result of settled) if (result.status === "fulfilled") result.value.release();
  await Promise.all(connecting);
  const [rows] = await pool.promise().query<({ name: string; version: string } & RowDataPacket)[]>(
    { sql: INSPECT, timeout },
    [COLLATIONS],
  );
  const known = rows.map(({ name }) => name);
  return {
    // Each server has the last one.
    collation: COLLATIONS.find((name) => known.includes(name)) ?? "utf8mb4_bin",
    version: String(rows[0]?.version),
  };
}

interface ScriptOptions {
  /** The Kysely of the session that has the lock of the schema. */
  readonly kysely: Kysely<AnyTables>;
  readonly mysql: Mysql;
  readonly settings: PoolOptions;
}

/**
 * Runs a script on a new connection: those of the pool take one statement at a time. The other
 * session must still have the lock of the schema when this one has that of the script: whoever
 * takes the former afterwards waits for the latter.
 */
async function runScript(
  script: string,
  { kysely, mysql, settings }: ScriptOptions,
): Promise<void> {
  const connection = mysql.createConnection(settings).promise();
  try {
    await connection.query(SESSION);
    const [[lock]] = await connection.query<(ScriptLock & RowDataPacket)[]>(LOCK_SCRIPT);
    checkLocked(lock);
    await keepingAlive(() => connection.query(script), () => sql`select 1`.execute(kysely));
  } finally {
    connection.destroy();
  }
}

interface FunctionOptions extends Pick<ScriptOptions, "kysely"> {
  /** The session that is opened for the function. */
  readonly session: DbConnection;
}

/** Runs a function as `runScript` does a script: what it sets ends with its session. */
async function runFunction(
  run: SessionFunction,
  { kysely, session }: FunctionOptions,
): Promise<void> {
  const underLock = async (own: Kysely<AnyTables>) => {
    const { rows: [lock] } = await sql.raw<ScriptLock>(LOCK_SCRIPT).execute(own);
    checkLocked(lock);
    await keepingAlive(() => run(own), () => sql`select 1`.execute(kysely));
  };
  try {
    await session.unlimited(() => session.kysely.connection().execute(underLock));
  } finally {
    await session.close();
  }
}

interface ScriptLock {
  readonly is_locked: unknown;
}

function checkLocked(lock: ScriptLock | undefined): void {
  if (Number(lock?.is_locked) === 1) return;
  throw new Error("another session has run a script for over 60 s");
}
