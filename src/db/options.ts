/**
 * Where the database is, and how many connections it may take.
 *
 * @module
 */
import { readEnv } from "../core/env.ts";
import type { Dialect } from "./dialect.ts";
import { openSqlite } from "./dialects/sqlite.ts";

/** The limits of a pool of connections. */
interface PoolLimits {
  readonly min: number;
  readonly max: number;
}

/**
 * The options of a database. Immutable: each method gives new options. Nothing prints the URL, which
 * may hold a password.
 *
 * @example
 * ```ts
 * import { DbOptions } from "@fw/fw/db";
 *
 * const options = DbOptions.fromUrl("sqlite:data.sqlite").poolMax(1);
 * ```
 */
export class DbOptions {
  readonly #open: (pool: PoolLimits) => Promise<Dialect>;
  readonly #pool: PoolLimits;

  private constructor(open: (pool: PoolLimits) => Promise<Dialect>, pool: PoolLimits) {
    this.#open = open;
    this.#pool = pool;
  }

  /**
   * Reads a database URL: `sqlite:<file path>`, with a relative path seen from the working directory,
   * or `sqlite::memory:` for a database of its own that ends with its connection.
   *
   * @throws {TypeError} if the URL is malformed, or of a database that is not supported
   */
  static fromUrl(url: string): DbOptions {
    return new DbOptions(opener(url), { min: 0, max: 10 });
  }

  /**
   * Reads the URL from `DATABASE_URL`.
   *
   * @throws {TypeError} if it is not set, or as {@linkcode DbOptions.fromUrl} does
   */
  static fromEnv(): DbOptions {
    const url = readEnv("DATABASE_URL");
    if (!url) throw new TypeError("Cannot read DATABASE_URL: it is not set");
    return DbOptions.fromUrl(url);
  }

  /**
   * Sets how many connections are kept open when idle; 0 by default. SQLite always has one.
   *
   * @throws {RangeError} if it is not a whole number of 0 or more
   */
  poolMin(connections: number): DbOptions {
    return new DbOptions(this.#open, { ...this.#pool, min: checkLimit(connections, 0) });
  }

  /**
   * Sets how many connections are open at most; 10 by default. SQLite always has one.
   *
   * @throws {RangeError} if it is not a whole number of 1 or more
   */
  poolMax(connections: number): DbOptions {
    return new DbOptions(this.#open, { ...this.#pool, max: checkLimit(connections, 1) });
  }

  /**
   * Opens the database; `open` of a `DbService` calls it.
   *
   * @throws {RangeError} if the pool's minimum is over its maximum
   * @throws {DbError} if the database cannot be opened
   */
  async open(): Promise<Dialect> {
    const { min, max } = this.#pool;
    if (min > max) {
      throw new RangeError(`Cannot open database: poolMin ${min} is over poolMax ${max}`);
    }
    return await this.#open(this.#pool);
  }
}

/** Finds what opens a URL. No message repeats any of it: a malformed one may hold a password anywhere. */
function opener(url: string): (pool: PoolLimits) => Promise<Dialect> {
  const [, scheme, rest = ""] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  switch (scheme) {
    case "sqlite": {
      const path = rest.replace(/^\/\//, "");
      if (path === "") throw new TypeError("Cannot read database URL: it names no SQLite file");
      return () => openSqlite(path);
    }
    case "postgres":
    case "postgresql":
    case "mysql":
      throw new TypeError(`Cannot read database URL: ${scheme} is not supported yet`);
  }
  throw new TypeError("Cannot read database URL: it does not begin with sqlite:");
}

function checkLimit(connections: number, least: number): number {
  if (Number.isSafeInteger(connections) && connections >= least) return connections;
  throw new RangeError(
    `Cannot limit pool: ${connections} is not a whole number of ${least} or more`,
  );
}
