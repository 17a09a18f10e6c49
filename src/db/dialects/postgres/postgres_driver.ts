/**
 * PostgreSQL through `postgres`.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection } from "kysely";
import type { Options, PostgresType } from "postgres";
import type { OpenOptions } from "../../connection/pool_limits.ts";
import { type Dialect, withDriver } from "../../connection/dialect.ts";
import type { DatabaseUrl } from "../server/database_url.ts";
import { loadDriver, openServerError, placeOf } from "../server/open_server.ts";
import { readTlsOptions } from "../server/tls.ts";
import { markTransactions } from "../../transaction/transaction_state.ts";
import { POSTGRES } from "./postgres.ts";
import { PostgresPool } from "./postgres_pool.ts";

/** Session settings that the driver and the SQL depend on; poolers know them. */
const SESSION = { TimeZone: "UTC", DateStyle: "ISO", standard_conforming_strings: "on" };
/** Those with the right default. Poolers refuse them, so they are sent only where it differs. */
const EXACT = { extra_float_digits: "1", bytea_output: "hex" };

const INEXACT = "a pooler drops extra_float_digits or bytea_output, so set them for the role";

/** Encodings of values that differ from the driver's. */
const TYPES: Readonly<Record<string, PostgresType>> = {
  // Encoded as text by codecs and, as with Kysely, by callers.
  json: { to: 114, from: [114, 3802], serialize: jsonText, parse: JSON.parse },
  int8: { to: 20, from: [20], serialize: String, parse: exactNumber },
  // The driver would read and write times without a zone in that of the process.
  timestamptz: { to: 1184, from: [1184], serialize: timeText, parse: (text) => new Date(text) },
  timestamp: {
    to: 1114,
    from: [1114],
    serialize: timeText,
    parse: (text: string) => new Date(`${text.replace(" ", "T")}Z`),
  },
};

/**
 * Opens a PostgreSQL database, and connects to it once, or as often as the pool's minimum.
 *
 * @throws {DbError} if it cannot be reached, or rejects the connection
 */
export async function openPostgres(
  { server: url, hosts, settings }: DatabaseUrl,
  { prepare, ...limits }: OpenOptions,
): Promise<Dialect> {
  const { tls, schema, applicationName, options: flags, targetSession } = settings;
  const [{ default: postgres }, { PostgresJSDialect, PostgresJSDriver }, net, nodeTls] =
    await loadDriver(
      "postgres and kysely-postgres-js",
      () =>
        Promise.all([
          import("postgres"),
          import("kysely-postgres-js"),
          import("node:net"),
          import("node:tls"),
        ]),
    );
  const postgresTls = tls && {
    tls: nodeTls,
    settings: tls,
    options: await readTlsOptions(tls),
    timeoutMs: limits.acquireTimeoutMs,
  };
  const session = {
    ...SESSION,
    ...applicationName && { application_name: applicationName },
    ...flags && { options: flags },
  };
  const options: Options<Record<string, PostgresType>> = {
    connect_timeout: limits.acquireTimeoutMs / 1000,
    ssl: false, // The connection is encrypted before the driver has it.
    fetch_types: false,
    types: TYPES,
  };
  const makePool = (connection: Readonly<Record<string, string>>) =>
    new PostgresPool({
      net,
      tls: postgresTls,
      hosts,
      targetSession,
      limits,
      prepare,
      make(settings, known) {
        if (!known) return postgres(url.href, { ...options, connection, ...settings });
        // The parsed options of another driver have the types of arrays.
        const parsed = { ...known.options, ...settings, parameters: {} };
        return postgres(parsed as unknown as Options<Record<string, PostgresType>>);
      },
    });
  const connections = Math.max(1, limits.min);
  let pool = makePool(session);
  let opened;
  try {
    opened = await pool.connect(connections);
    if (!opened.isExact) {
      await pool.close(0);
      pool = makePool({ ...session, ...EXACT });
      opened = await pool.connect(connections);
      if (!opened.isExact) throw new Error(INEXACT);
    }
    if (schema && opened.schema !== schema) throw new Error(otherSchema(schema));
  } catch (error) {
    await pool.close(0);
    throw openServerError(url, {
      brand: "PostgreSQL",
      cause: error,
      failure: POSTGRES.explain(error),
    });
  }

  /** The base class calls a method that the connection of this driver lacks. */
  class PostgresDriver extends PostgresJSDriver {
    override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
      await connection.executeQuery(CompiledQuery.raw("rollback"));
    }
  }
  const config = { postgres: () => Promise.resolve(pool.asSql) };
  return {
    grammar: POSTGRES,
    cancels: true,
    keepsSessions: opened.isDirect,
    place: placeOf(url, 5432),
    idle: () => pool.idle,
    kysely: withDriver(
      new PostgresJSDialect(config),
      () => markTransactions(new PostgresDriver(config)),
    ),
    runFree: (statement, execution) => pool.run(statement, execution),
  };
}

/** A search path of the session would be refused by poolers, or stay for the next client. */
function otherSchema(schema: string): string {
  return `the current schema is not ${schema}; ` +
    `it must exist, and be the first of the search_path of the role (alter role … set search_path)`;
}

function jsonText(value: unknown): unknown {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function timeText(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/** Returns a number where it is exact, otherwise a bigint. */
function exactNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
