/**
 * Databases through a Kysely dialect of the application's own.
 *
 * @module
 */
import type { Dialect as KyselyDialect } from "kysely";
import { MysqlAdapter, PostgresAdapter, SqliteAdapter } from "kysely";
import type { Dialect, Grammar } from "../dialect.ts";
import { mysqlGrammar } from "./mysql.ts";
import { POSTGRES } from "./postgres.ts";
import { SQLITE } from "./sqlite.ts";

/** The brands by the adapter that Kysely has for each. */
const GRAMMARS: readonly (readonly [string, abstract new () => unknown, () => Grammar])[] = [
  ["PostgresAdapter", PostgresAdapter, () => POSTGRES],
  ["SqliteAdapter", SqliteAdapter, () => SQLITE],
  ["MysqlAdapter", MysqlAdapter, () => mysqlGrammar({ collation: "utf8mb4_bin" })],
];

/**
 * Takes a Kysely dialect, whose adapter tells the database's brand.
 *
 * @throws {TypeError} if it is none of PostgreSQL, SQLite and MySQL
 */
export function fromKysely(kysely: KyselyDialect): Dialect {
  const adapter = kysely.createAdapter();
  for (const [name, Adapter, grammar] of GRAMMARS) {
    // A dialect may bring a copy of Kysely of its own, whose classes are others.
    if (adapter instanceof Adapter || namesOf(adapter).includes(name)) {
      return {
        grammar: grammar(),
        kysely,
        ...(adapter.supportsMultipleConnections === false ? { poolMax: 1 } : {}),
      };
    }
  }
  throw new TypeError("Cannot use dialect: it is not of PostgreSQL, SQLite or MySQL");
}

/** The names of the classes that an object is an instance of. */
function namesOf(value: object): readonly string[] {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null ? [] : [String(prototype.constructor?.name), ...namesOf(prototype)];
}
