/**
 * SQLite through `node:sqlite`, which Deno, Node and Bun have built in.
 *
 * @module
 */
import {
  type ColumnDataType,
  type Dialect as KyselyDialect,
  type Expression,
  sql,
  type SqlBool,
  SqliteDialect,
} from "kysely";
import type { DatabaseSync } from "node:sqlite";
import { BoundedCache } from "../bounded_cache.ts";
import type { Codec, Dialect, DriverRow, TextMatch } from "../dialect.ts";
import { DbError, type DbFailure } from "../errors.ts";
import type { FieldKind } from "../field_kind.ts";
import { explainSqliteError, openError } from "./sqlite_errors.ts";
import { kyselyDatabase, prepareRows, type RowsStatement } from "./sqlite_statement.ts";

const PRAGMAS = [
  "pragma busy_timeout = 5000",
  "pragma foreign_keys = on",
  "pragma journal_mode = wal",
];
const MAX_STATEMENTS = 1024;

/** An open SQLite database: one connection, used by one statement at a time. */
export class Sqlite implements Dialect {
  /** Kysely's own dialect, over this connection. */
  readonly kysely: KyselyDialect;
  /** SQLite has no booleans, and reads integers as bigints so that none is out of range. */
  readonly codecs: Readonly<Record<FieldKind, Codec>> = {
    integer: { encode: same, decode: decodeInteger },
    text: { encode: same, decode: same },
    boolean: { encode: Number, decode: Boolean },
    real: { encode: same, decode: Number },
  };
  /** SQLite's storage classes. */
  readonly columnTypes: Readonly<Record<FieldKind, ColumnDataType>> = {
    integer: "integer",
    text: "text",
    boolean: "integer",
    real: "real",
  };
  /** Tables refuse values of another type, as the other databases do. */
  readonly tableOptions: Expression<unknown> = sql`strict`;
  readonly #database: DatabaseSync;
  readonly #statements = new BoundedCache<RowsStatement>(MAX_STATEMENTS);

  /** Takes over an open database; see {@linkcode openSqlite}. */
  constructor(database: DatabaseSync) {
    this.#database = database;
    this.kysely = new SqliteDialect({ database: kyselyDatabase(database) });
  }

  /** Gives a GLOB pattern: LIKE would ignore the case of ASCII letters, and of those only. */
  pattern(match: TextMatch, text: string): string {
    const literal = text.replace(/[*?[]/g, "[$&]");
    return `${match === "startsWith" ? "" : "*"}${literal}${match === "endsWith" ? "" : "*"}`;
  }

  /** Compares with GLOB. */
  matches(column: Expression<unknown>, pattern: unknown): Expression<SqlBool> {
    return sql<SqlBool>`${column} glob ${pattern}`;
  }

  /** Reads SQLite's result code. */
  explain(error: unknown): DbFailure {
    return explainSqliteError(error);
  }

  /**
   * Runs at once unless a transaction is open, which the statement would become part of. Statements
   * are synchronous, so there is nothing else to wait for.
   */
  runNow(sql: string, parameters: readonly unknown[]): readonly DriverRow[] | undefined {
    // Node before 24 does not tell: undefined.
    if (this.#database.isTransaction !== false) return undefined;
    return this.#statements.getOrMake(sql, () => prepareRows(this.#database, sql))(parameters);
  }

  /** Closes the file. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/**
 * Opens a database file, made if it is not there, or `":memory:"`. Foreign keys are enforced, a file
 * is in WAL mode, and a statement waits up to 5 s for another process to finish writing; all of this
 * process waits with it, as `node:sqlite` is synchronous.
 *
 * @throws {DbError} `ConnectionLost` if the file cannot be opened, `Database` if it is not a database
 */
export async function openSqlite(path: string): Promise<Sqlite> {
  const { DatabaseSync } = await import("node:sqlite");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    // Not exec(): on Deno its errors have no result code.
    for (const pragma of PRAGMAS) database.prepare(pragma).all();
    return new Sqlite(database);
  } catch (error) {
    database?.close();
    throw openError(path, error);
  }
}

function same(value: unknown): unknown {
  return value;
}

function decodeInteger(raw: unknown): number {
  const value = Number(raw);
  if (Number.isSafeInteger(value)) return value;
  throw new DbError("Database", "Cannot read integer: it is not within ±(2^53 - 1)");
}
