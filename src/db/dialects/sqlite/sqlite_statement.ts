/**
 * Statements of `node:sqlite`, and the shim that Kysely's `SqliteDialect` drives them through.
 *
 * @module
 */
import type { SqliteDatabase } from "kysely";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { DriverRow, StatementResult } from "../../connection/statement.ts";
import { storableBytes } from "./sqlite.ts";

/** A method that older types of `node:sqlite` lack. */
interface ReturnsArrays {
  setReturnArrays(enabled: boolean): void;
}

/** A prepared statement. */
export interface PreparedStatement {
  /** Its SQL. */
  readonly sql: string;
  /** Runs it with encoded values. */
  readonly run: (parameters: readonly unknown[]) => StatementResult;
}

/** Prepares a statement. It reads arrays, which are faster than objects. */
export function prepareStatement(database: DatabaseSync, sql: string): PreparedStatement {
  const statement = prepare(database, sql) as StatementSync & ReturnsArrays;
  if (statement.columns().length === 0) {
    const run = (parameters: readonly unknown[]) => {
      const { changes } = statement.run(...parameters as SQLInputValue[]);
      return { rows: [], affectedRows: Number(changes) };
    };
    return { sql, run };
  }
  statement.setReturnArrays(true);
  const run = (parameters: readonly unknown[]) => {
    // The types of node:sqlite ignore setReturnArrays; codecs return values that SQLite stores.
    const rows = statement.all(...parameters as SQLInputValue[]) as unknown as DriverRow[];
    return { rows, affectedRows: rows.length };
  };
  return { sql, run };
}

/**
 * Adapts a connection to Kysely. Each query is prepared again: on some runtimes a prepared
 * `select *` would not include new columns.
 */
export function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = prepare(database, sql);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...parameters.map(bindable)).map(withNumbers),
        run: (parameters) => statement.run(...parameters.map(bindable)),
        *iterate(parameters) {
          for (const row of statement.iterate(...parameters.map(bindable))) yield withNumbers(row);
        },
      };
    },
  };
}

/**
 * Converts a value to one that SQLite stores: a boolean becomes 1 or 0. Rejects values that
 * `node:sqlite` would reject, or read as named parameters and bind as NULL, such as a date.
 *
 * @throws {TypeError} if SQLite has no such value
 */
function bindable(value: unknown): SQLInputValue {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value;
    case "boolean":
      return Number(value);
  }
  if (value === null) return value;
  if (value instanceof Uint8Array) return storableBytes(value);
  throw new TypeError(`Cannot bind ${typeof value}: SQLite stores null, numbers, text and bytes`);
}

/** Reads integers as bigints: as numbers they would throw beyond 2^53. */
function prepare(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

/** Returns a plain row, its integers as numbers where a number is exact. */
function withNumbers(row: unknown): unknown {
  return Object.fromEntries(
    Object.entries(row as object).map(([name, value]) => [name, exactNumber(value)]),
  );
}

function exactNumber(value: unknown): unknown {
  const number = Number(value);
  return typeof value === "bigint" && Number.isSafeInteger(number) ? number : value;
}
