/**
 * Which database a Kysely dialect is of.
 *
 * @module
 */
import { type Dialect, MysqlAdapter, PostgresAdapter, SqliteAdapter } from "kysely";
import type { Grammar } from "../connection/grammar.ts";

/** The adapters of Kysely, and their names, which a bundle may have changed. */
const ADAPTERS = [
  ["PostgreSQL", PostgresAdapter, "PostgresAdapter"],
  ["SQLite", SqliteAdapter, "SqliteAdapter"],
  ["MySQL", MysqlAdapter, "MysqlAdapter"],
] as const;

/**
 * Returns the brand of a dialect, which its adapter determines: an instance of Kysely's class, or
 * of one of that name, as a dialect may depend on another copy of Kysely.
 *
 * @throws {TypeError} if it is not of PostgreSQL, SQLite or MySQL
 */
export function brandOf(dialect: Dialect): Grammar["brand"] {
  const adapter = dialect.createAdapter();
  const names = namesOf(adapter);
  const found = ADAPTERS.find(([, Adapter, name]) =>
    adapter instanceof Adapter || names.includes(name)
  );
  if (found) return found[0];
  throw new TypeError("Cannot use dialect: it is not of PostgreSQL, SQLite or MySQL");
}

/** Returns the names of the classes that an object is an instance of. */
function namesOf(value: object): readonly string[] {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null ? [] : [String(prototype.constructor?.name), ...namesOf(prototype)];
}
