/**
 * MySQL and MariaDB through `mysql2`.
 *
 * @module
 */
import { MysqlDialect, type MysqlPool, type MysqlPoolConnection } from "kysely";
import type { Pool, PoolConnection, PoolOptions, QueryError, RowDataPacket } from "mysql2";
import type { Readable } from "node:stream";
import type { PoolLimits } from "../../connection/connection.ts";
import type { Dialect, TogetherOptions } from "../../connection/dialect.ts";
import type { Statement } from "../../connection/statement.ts";
import { CANCEL_MS } from "../../transaction/statement_watch.ts";
import { DbError } from "../../errors.ts";
import { lengthOf, mysqlGrammar, type MysqlSettings } from "./mysql.ts";
import { type DuplicateKey, explainMysqlError, isDuplicate, keyIn } from "./mysql_errors.ts";
import { lost, MysqlPoolKeeper } from "./mysql_pool.ts";
import type { DatabaseUrl } from "../server/database_url.ts";
import { loadDriver, openServerError } from "../server/open_server.ts";
import { readTlsOptions } from "../server/tls.ts";

type Mysql = typeof import("mysql2");

const MAX_PREPARED = 1000;
/** UTC; values that do not fit are errors; a key of 0 is 0. */
const SESSION = "set time_zone = '+00:00', sql_mode = " +
  "'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO'";
/**
 * Collations by code point that respect trailing spaces: MySQL's and MariaDB's; the last
 * is a fallback.
 */
const COLLATIONS = ["utf8mb4_0900_bin", "utf8mb4_nopad_bin", "utf8mb4_bin"];
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
    multipleStatements: true, // of `together` only; see `kyselyConnection`
  };
  const driver: OpenedDriver = { mysql, Buffer, limits };
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
}

async function openPool(
  settings: PoolOptions,
  { mysql, Buffer, limits: { min, max, acquireTimeoutMs: timeout } }: OpenedDriver,
): Promise<Dialect> {
  // `MysqlPoolKeeper` closes idle connections: the driver's limit of them ignores how long
  // they are idle.
  const pool = mysql.createPool({ ...settings, connectionLimit: max, maxIdle: max });
  const connections = new MysqlPoolKeeper(pool, min);
  try {
    const server = await connect(pool, { times: Math.max(1, min), timeout });
    const grammar = mysqlGrammar({
      ...server,
      // A number would be sent as a double, which LIMIT rejects and long keys do not fit.
      integer: (value) => mysql.TypedParameter.BIGINT(value as number | bigint),
      bytes: (value) => Buffer.from(value as Uint8Array),
    });
    return {
      grammar,
      cancels: true,
      kysely: new MysqlDialect({
        pool: preparing(pool, { connections, timeout }),
        controlConnection: () => mysql.createConnection({ ...settings, connectTimeout: CANCEL_MS }),
      }),
      together,
      runScript: (script) => runScript(script, { mysql, settings }),
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
          const face = kyselyConnection(connection, connections);
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

/** Runs a script on a new connection: those of the pool take one statement at a time. */
async function runScript(
  script: string,
  { mysql, settings }: { readonly mysql: Mysql; readonly settings: PoolOptions },
): Promise<void> {
  const connection = mysql.createConnection(settings).promise();
  try {
    await connection.query(SESSION);
    await connection.query(script);
  } finally {
    connection.destroy();
  }
}

/**
 * MySQL would read a whole table to find a long list: by default, 8 MiB limit the ranges that it
 * looks up in an index.
 */
const RANGES = "$& /*+ SET_VAR(range_optimizer_max_mem_size = 0) */";

/** The most characters that statements run together may have: they are not prepared. */
const MAX_TOGETHER = 2 ** 16;

/** The values of several statements, which makes their SQL run as such. */
class JointValues {
  readonly values: readonly unknown[];
  readonly isWhole: boolean;

  constructor(values: readonly unknown[], isWhole: boolean) {
    this.values = values;
    this.isWhole = isWhole;
  }
}

/** Combines statements, whose values are written into their SQL. */
function together(
  statements: readonly Statement[],
  { isWhole }: TogetherOptions,
): Statement | undefined {
  const values = statements.flatMap(({ parameters }) => parameters);
  const length = values.reduce<number>((sum, value) => sum + lengthOf(value), 0);
  if (length > MAX_TOGETHER) return undefined;
  const parts = statements.map(({ sql }) => sql);
  if (isWhole) parts.unshift("start transaction"), parts.push("commit");
  return {
    sql: parts.join("; "),
    parameters: [new JointValues(values, isWhole)],
    reads: false,
  };
}

type StreamOptions = { readonly highWaterMark?: number };
type Values = Parameters<PoolConnection["execute"]>[1];
type Callback = (error: QueryError | null, result: unknown) => void;
type Face = Pick<MysqlPoolConnection, "query" | "release" | "destroy" | "threadId" | "config">;

const COLUMNS_OF_KEY = "select column_name as name from information_schema.statistics " +
  "where table_schema = database() and table_name = ? and index_name = ? order by seq_in_index";

/**
 * Adapts a connection to Kysely. Statements with values are prepared, but for those with lists. A
 * text that may be several statements is always prepared, which the server refuses: it could have
 * been injected. Only definitions may have parts, as that of a trigger.
 */
function kyselyConnection(
  connection: PoolConnection,
  connections: MysqlPoolKeeper,
): MysqlPoolConnection {
  let pending = 0;

  function query(sql: string, values: readonly unknown[], callback?: Callback): unknown {
    if (!callback) return { stream: (options: StreamOptions) => streamed(sql, values, options) };
    pending += 1;
    const called: Callback = (error, result) => {
      pending -= 1;
      if (isDuplicate(error)) nameColumns(sql, error, () => callback(error, result));
      else callback(error, result);
    };
    const [first] = values;
    if (first instanceof JointValues) return jointly(sql, first, called);
    const isOne = !sql.includes(";") || /^\s*create\b/i.test(sql);
    if (values.some(Array.isArray)) {
      const text = connection.format(
        sql.replace(/^(?:select|update|delete)/, RANGES),
        values.map(untyped),
      );
      return isOne ? connection.query(text, called) : connection.execute(text, called);
    }
    if (values.length === 0 && isOne) return connection.query(sql, called);
    return connection.execute(sql, values as Values, called);
  }

  function jointly(sql: string, { values, isWhole }: JointValues, callback: Callback): unknown {
    return connection.query(sql, values.map(untyped), (error, result) => {
      if (error) return callback(error, undefined);
      const results = (result as readonly unknown[]).map((it) => Array.isArray(it) ? it : [it]);
      callback(null, isWhole ? results.slice(1, -1) : results);
    });
  }

  /** Streams rows, and fails when the connection is lost, which the driver does not report. */
  function streamed(sql: string, values: readonly unknown[], options: StreamOptions): Readable {
    const failing = Promise.withResolvers<Error>();
    const fail = (error = lost()) => failing.resolve(error);
    const settle = () => void connection.off("error", fail).off("end", fail);
    // A connection that is lost already emits the event at once.
    connection.on("error", fail).on("end", fail);
    const query = sql.includes(";")
      ? connection.execute(sql, [...values] as Values)
      : connection.query(sql, [...values]);
    query.once("end", settle);
    const stream = query.stream(options).once("close", settle);
    failing.promise.then((error) => stream.destroy(error));
    return stream;
  }

  /** Looks up the columns of a key: the error has only its name. */
  function nameColumns(sql: string, error: DuplicateKey, done: () => void): void {
    const [, table] =
      /^(?:start transaction; )?(?:insert(?: ignore)? into|update) `([^`]+)`/i.exec(sql) ?? [];
    const key = keyIn(error.message);
    if (table === undefined || key === undefined) return done();
    connection.query<({ name: string | null } & RowDataPacket)[]>(
      COLUMNS_OF_KEY,
      [table, key],
      (failure, rows) => {
        if (!failure) error.fields = rows.flatMap(({ name }) => name ?? []);
        done();
      },
    );
  }

  const face: Face = {
    config: connection.config,
    threadId: connection.threadId ?? 0,
    destroy: () => connections.abandon(connection, { isHung: pending > 0 }),
    release: () => connection.release(),
    // Kysely's type is narrower than the driver's.
    query: query as MysqlPoolConnection["query"],
  };
  // Kysely uses only these members.
  return face as MysqlPoolConnection;
}

/** Returns a value, or a list of them, as the driver writes it into SQL: without its type. */
function untyped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(untyped);
  return typeof value === "object" && value !== null && "value" in value ? value.value : value;
}
