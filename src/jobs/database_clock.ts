/**
 * The time of the database.
 *
 * @module
 */
import type { DbConnection } from "../db/connection/connection.ts";
import type { Grammar } from "../db/connection/grammar.ts";

/** The SQL of the time, in milliseconds since 1970, regardless of the time zone of the session. */
export const NOW: Readonly<Record<Grammar["brand"], string>> = {
  PostgreSQL: "cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)",
  MySQL: "timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000",
  SQLite: "cast(round((julianday('now') - 2440587.5) * 86400000) as integer)",
};

/**
 * The clock of a database: processes whose own clocks differ, or are set, agree on it. SQLite has
 * none, as it is a part of the process. A clock that is set by `DbOptions.now` replaces it.
 */
export class DatabaseClock {
  readonly #connection: DbConnection;
  /** The time of the database at 0 of `performance.now()`; `undefined` until it is read. */
  #originMs: number | undefined;

  /** Prepares the clock of a database. */
  constructor(connection: DbConnection) {
    this.#connection = connection;
  }

  /**
   * Returns the time in milliseconds since 1970, as of its last reading; until then, that of the
   * process.
   */
  now(): number {
    if (this.#originMs === undefined) return this.#connection.now();
    return Math.floor(this.#originMs + performance.now());
  }

  /** Returns the time, as `now` does. */
  date(): Date {
    return new Date(this.now());
  }

  /**
   * Reads the time from the database. The result is never ahead of it, and behind by at most the
   * time that the statement takes.
   *
   * @throws {DbError} if the database fails
   */
  async read(): Promise<number> {
    const { now, grammar: { brand } } = this.#connection;
    if (now === Date.now && brand !== "SQLite") {
      const statement = { sql: `select ${NOW[brand]}`, parameters: [], reads: true };
      const { rows: [[time] = []] } = await this.#connection.execute("read the time", statement);
      this.#originMs = Number(time) - performance.now();
    }
    return this.now();
  }
}
