/**
 * PostgreSQL through `postgres`.
 *
 * @module
 */
import { CompiledQuery, type Dialect as KyselyDialect, type Kysely } from "kysely";
import type { Options, PostgresType, Sql } from "postgres";
import type { PoolLimits } from "../connection.ts";
import type { AnyTables, Dialect, StatementResult } from "../dialect.ts";
import type { Statement } from "../operation.ts";
import { openServerError } from "./open_server_error.ts";
import { POSTGRES } from "./postgres.ts";
import { ReservingPool } from "./postgres_reserve.ts";

/** How many statements are prepared on each connection, where they stay. */
const MAX_PREPARED = 1000;
const IDLE_SECONDS = 60;

/** How values travel, where the driver would do it in another way. */
const TYPES: Readonly<Record<string, PostgresType>> = {
  // Written as text by codecs and, as Kysely would have it, by callers.
  json: { to: 114, from: [114, 3802], serialize: jsonText, parse: JSON.parse },
  int8: { to: 20, from: [20], serialize: String, parse: exactNumber },
};

/** An open PostgreSQL database. */
class Postgres implements Dialect {
  readonly grammar = POSTGRES;
  readonly kysely: KyselyDialect;
  readonly #sql: Sql;
  readonly #prepared = new Set<string>();

  constructor(sql: Sql, kysely: KyselyDialect) {
    this.#sql = sql;
    this.kysely = kysely;
  }

  async runFree({ sql, parameters }: Statement): Promise<StatementResult> {
    // The driver takes what codecs encode to.
    const values = [...parameters] as string[];
    const rows = await this.#sql.unsafe(sql, values, { prepare: this.#prepares(sql) }).values();
    return { rows, affectedRows: rows.count ?? 0 };
  }

  async runScript(script: string, kysely: Kysely<AnyTables>): Promise<void> {
    await kysely.executeQuery(CompiledQuery.raw(script));
  }

  #prepares(sql: string): boolean {
    if (this.#prepared.has(sql)) return true;
    if (this.#prepared.size >= MAX_PREPARED) return false;
    this.#prepared.add(sql);
    return true;
  }
}

/**
 * Opens a PostgreSQL database, and connects to it once, or as often as the pool's minimum.
 *
 * @throws {DbError} if it cannot be reached, or refuses
 */
export async function openPostgres(
  url: URL,
  { min, max, acquireTimeoutMs }: PoolLimits,
): Promise<Dialect> {
  const [{ default: postgres }, { PostgresJSDialect }] = await Promise.all([
    import("postgres"),
    import("kysely-postgres-js"),
  ]);
  const pool = new ReservingPool((onclose) => {
    const options: Options<Record<string, PostgresType>> = {
      max,
      idle_timeout: min === 0 ? IDLE_SECONDS : 0,
      connect_timeout: acquireTimeoutMs / 1000,
      // Without it, each failure to connect makes the next attempt wait longer, up to 20 s.
      backoff: false,
      onclose,
      onnotice: () => {},
      types: TYPES,
      connection: { TimeZone: "UTC", DateStyle: "ISO" },
    };
    return postgres(url.href, options);
  });
  const dialect = new PostgresJSDialect({ postgres: () => Promise.resolve(pool.face) });
  try {
    await pool.connect(Math.max(1, min));
  } catch (error) {
    await pool.close();
    throw openServerError("PostgreSQL", url, error, POSTGRES.explain(error));
  }
  return new Postgres(pool.sql, dialect);
}

function jsonText(value: unknown): unknown {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Gives a number where that is exact, else a bigint. */
function exactNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
