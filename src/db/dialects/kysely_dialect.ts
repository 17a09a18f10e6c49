/**
 * Databases through any Kysely dialect of PostgreSQL, SQLite or MySQL.
 *
 * @module
 */
import {
  CompiledQuery,
  type Dialect as KyselyDialect,
  type Driver,
  type Kysely,
  sql,
} from "kysely";
import { outlivesRequests } from "../../platform/wait_until.ts";
import { JSON_TEXT, SAME, TIMESTAMP } from "../connection/codecs.ts";
import { type AnyTables, type Dialect, withDriver } from "../connection/dialect.ts";
import type { Codec, Grammar } from "../connection/grammar.ts";
import { mysqlGrammar } from "./mysql/mysql.ts";
import { explainMysqlError } from "./mysql/mysql_errors.ts";
import { POSTGRES } from "./postgres/postgres.ts";
import { D1, hasTransactions } from "./sqlite/d1.ts";
import { SQLITE } from "./sqlite/sqlite.ts";
import { dbError } from "../errors.ts";
import { type ScriptBrand, splitScript } from "../migrate/script.ts";
import { EdgeGate, type EdgeGateOptions } from "../transaction/edge_gate.ts";

/** Values that drivers of MySQL read differently, and the collation of `mysql_driver.ts`. */
const PROBE = `select json_array(1) as json,
  timestamp('2024-01-01 00:00:00') as winter, timestamp('2024-07-01 00:00:00') as summer,
  unix_timestamp('2024-01-01 00:00:00') as winter_seconds,
  unix_timestamp('2024-07-01 00:00:00') as summer_seconds,
  (select collation_name from information_schema.collations
    where collation_name in ('utf8mb4_0900_bin', 'utf8mb4_nopad_bin') limit 1) as collation,
  version() as version`;

/**
 * Some drivers of PostgreSQL encode a parameter of type JSON even if it is text: they get an
 * object, which all of them encode.
 */
const JSON_OBJECT: Codec = { encode: (value) => ({ toJSON: () => value }), decode: SAME.decode };
const PARSED_JSON: Codec = { encode: JSON_TEXT.encode, decode: SAME.decode };

/**
 * Opens the database of a Kysely dialect.
 *
 * @throws {TypeError} if its driver or its sessions read times in another time zone than UTC
 * @throws {DbError} if the database cannot be reached
 */
export async function openKysely(
  kysely: KyselyDialect,
  brand: Grammar["brand"],
): Promise<Dialect> {
  const { supportsMultipleConnections } = kysely.createAdapter();
  const poolMax = supportsMultipleConnections === false ? 1 : undefined;
  if (outlivesRequests()) return { ...await openBrand(kysely, brand), poolMax };
  const createGate = (options: EdgeGateOptions) => new EdgeGate(options);
  if (poolMax && brand === "SQLite" && !await hasTransactions(kysely.createDriver())) {
    return { grammar: D1, kysely, runScript: statementRunner("SQLite"), createGate };
  }
  return { ...await openBrand(kysely, brand), poolMax, createGate };
}

async function openBrand(kysely: KyselyDialect, brand: Grammar["brand"]): Promise<Dialect> {
  switch (brand) {
    case "PostgreSQL": {
      const grammar = withEpoch(withJson(POSTGRES, JSON_OBJECT));
      return { grammar, kysely, runScript: runPostgresScript };
    }
    case "SQLite":
      return { grammar: SQLITE, kysely, runScript: statementRunner("SQLite") };
    case "MySQL":
      return await openMysql(kysely);
  }
}

/**
 * Opens a database, after checking how its driver reads JSON and times.
 *
 * @throws {TypeError} if it reads times in another time zone than UTC, or its sessions have another
 * @throws {DbError} if the database cannot be reached
 */
async function openMysql(kysely: KyselyDialect): Promise<Dialect> {
  const driver = kysely.createDriver();
  try {
    const { json, winter, summer, winter_seconds, summer_seconds, ...server } = await probe(driver);
    checkZone([winter, winter_seconds], Date.UTC(2024, 0));
    checkZone([summer, summer_seconds], Date.UTC(2024, 6));
    const grammar = mysqlGrammar({
      collation: String(server["collation"] ?? "utf8mb4_bin"),
      version: String(server["version"]),
      bytes: buffer,
    });
    return {
      grammar: typeof json === "string" ? grammar : withJson(grammar, PARSED_JSON),
      kysely: withDriver(kysely, () => driver),
      runScript: statementRunner("MySQL"),
    };
  } catch (error) {
    await driver.destroy().catch(() => {});
    throw error;
  }
}

async function probe(driver: Driver): Promise<Record<string, unknown>> {
  try {
    await driver.init();
    // A second call would create another pool.
    driver.init = () => Promise.resolve();
    const connection = await driver.acquireConnection();
    try {
      const { rows } = await connection.executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(PROBE),
      );
      return rows[0] ?? {};
    } finally {
      await driver.releaseConnection(connection);
    }
  } catch (error) {
    throw dbError("open MySQL database", explainMysqlError(error ?? {}), error);
  }
}

/** Checks a time of DATETIME as the driver reads it, and in seconds as the session converts it. */
function checkZone([read, converted]: readonly [unknown, unknown], expected: number): void {
  if (read instanceof Date && read.getTime() !== expected) {
    throw new TypeError(
      "Cannot use dialect: its driver reads times as of another time zone than UTC, such as with " +
        "the option timezone of mysql2 other than Z",
    );
  }
  if (Number(converted) * 1000 !== expected) {
    throw new TypeError(
      "Cannot use dialect: its sessions have another time zone than UTC, which columns of type " +
        "TIMESTAMP are converted to: run SET time_zone = '+00:00' on each new connection",
    );
  }
}

function withJson(grammar: Grammar, json: Codec): Grammar {
  return { ...grammar, codecs: { ...grammar.codecs, json } };
}

/**
 * Reads times as milliseconds: drivers read those without a zone in the zone of the process, and
 * some cannot read the offsets that zones had in other centuries.
 */
function withEpoch(grammar: Grammar): Grammar {
  const { encode } = TIMESTAMP;
  return {
    ...grammar,
    codecs: {
      ...grammar.codecs,
      timestamp: { encode, decode: (raw, field) => TIMESTAMP.decode(Number(raw), field) },
    },
    read: (column, field) =>
      field.kind === "timestamp"
        // The cast rounds what the fraction of a double lacks.
        ? sql`cast(extract(epoch from date_trunc('milliseconds', ${column})) * 1000 as int8)`
        : grammar.read?.(column, field),
  };
}

/**
 * Runs the statements of a script one by one: most drivers reject several, or run only the first.
 */
function statementRunner(brand: ScriptBrand): NonNullable<Dialect["runScript"]> {
  return async (script: string, kysely: Kysely<AnyTables>) => {
    for (const statement of splitScript(script, brand)) {
      await kysely.executeQuery(CompiledQuery.raw(statement));
    }
  };
}

/** Runs a script inside a single statement, which any driver can prepare. */
async function runPostgresScript(script: string, kysely: Kysely<AnyTables>): Promise<void> {
  let tag = "fw";
  while (script.includes(`$${tag}`)) tag += "_";
  const body = `begin execute $${tag}_$${script}$${tag}_$; end`;
  await kysely.executeQuery(CompiledQuery.raw(`do $${tag}$${body}$${tag}$`));
}

/** Drivers of MySQL recognize bytes by Node's `Buffer`, where it exists. */
function buffer(bytes: unknown): unknown {
  const { Buffer } = globalThis as { Buffer?: { from(bytes: unknown): Uint8Array } };
  return Buffer?.from(bytes) ?? bytes;
}
