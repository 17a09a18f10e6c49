/**
 * PostgreSQL through `postgres`.
 *
 * @module
 */
import { CompiledQuery, type DatabaseConnection } from "kysely";
import type { Options, PostgresType } from "postgres";
import type { OpenOptions } from "../../connection/connection.ts";
import { type Dialect, withDriver } from "../../connection/dialect.ts";
import { loadDriver, openServerError } from "../server/open_server.ts";
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
};

/**
 * Opens a PostgreSQL database, and connects to it once, or as often as the pool's minimum.
 *
 * @throws {DbError} if it cannot be reached, or rejects the connection
 */
export async function openPostgres(
  url: URL,
  { prepare, ...limits }: OpenOptions,
): Promise<Dialect> {
  const [{ default: postgres }, { PostgresJSDialect, PostgresJSDriver }, net] = await loadDriver(
    "postgres and kysely-postgres-js",
    () => Promise.all([import("postgres"), import("kysely-postgres-js"), import("node:net")]),
  );
  const options: Options<Record<string, PostgresType>> = {
    connect_timeout: limits.acquireTimeoutMs / 1000,
    onnotice: () => {},
    types: TYPES,
  };
  const makePool = (connection: Readonly<Record<string, string>>) =>
    new PostgresPool({
      net,
      limits,
      prepare,
      make(settings, known) {
        if (!known) return postgres(url.href, { ...options, connection, ...settings });
        // The parsed options of another driver: the types of arrays need not be queried again.
        const parsed = { ...known.options, ...settings, fetch_types: false, parameters: {} };
        return postgres(parsed as unknown as Options<Record<string, PostgresType>>);
      },
    });
  const connections = Math.max(1, limits.min);
  let pool = makePool(SESSION);
  try {
    if (!await pool.connect(connections)) {
      await pool.close(0);
      pool = makePool({ ...SESSION, ...EXACT });
      if (!await pool.connect(connections)) throw new Error(INEXACT);
    }
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
    kysely: withDriver(new PostgresJSDialect(config), () => new PostgresDriver(config)),
    runFree: (statement) => pool.run(statement),
  };
}

function jsonText(value: unknown): unknown {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns a number where it is exact, otherwise a bigint. */
function exactNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
