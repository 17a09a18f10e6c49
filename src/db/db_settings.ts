/**
 * What a database is opened with, and how its URL is read.
 *
 * @module
 */
import type { Dialect } from "./connection/dialect.ts";
import type { OpenOptions } from "./connection/pool_limits.ts";
import { readServerUrl } from "./dialects/server/database_url.ts";
import type { MigrationSource } from "./migrate/migrations.ts";

/** The settings of `DbOptions`. */
export interface DbSettings {
  /** Opens the database; its driver is loaded then. */
  readonly open: (options: OpenOptions) => Dialect | Promise<Dialect>;
  /** The limits that are set, such as those of its URL. */
  readonly opening?: Partial<OpenOptions> | undefined;
  /** The migrations that run when it is opened. */
  readonly migrations?: MigrationSource;
  /** The brand of a server that its URL names. */
  readonly brand?: "PostgreSQL" | "MySQL";
  /** Those of its replicas. */
  readonly replicas?: readonly DbSettings[];
  /** The URL of the server on which tools create an empty database; any of SQLite is in memory. */
  readonly beside?: string;
}

const SCHEMES = "sqlite:, postgresql:, postgres:, mysql: or mariadb:";

/**
 * Reads a URL. No error repeats a part of it that may be a password.
 *
 * @throws {TypeError} as `DbOptions.fromUrl` does
 */
export function readUrl(url: string): DbSettings {
  const [, scheme, rest = ""] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  switch (scheme) {
    case "sqlite": {
      const path = rest.replace(/^\/\//, "");
      if (path === "") throw new TypeError("Cannot read database URL: it names no SQLite file");
      const [, parameter] = /\?([\w-]+)=/.exec(path) ?? [];
      if (parameter !== undefined) {
        throw new TypeError(`Cannot read database URL: its parameter ${parameter} is unknown`);
      }
      return {
        open: async (options) =>
          (await import("./dialects/sqlite/sqlite_driver.ts")).openSqlite(path, options),
      };
    }
    case "postgres":
    case "postgresql": {
      const read = readServerUrl(url, "PostgreSQL");
      return {
        brand: "PostgreSQL",
        open: async (options) =>
          (await import("./dialects/postgres/postgres_driver.ts"))
            .openPostgres(read, connecting(options)),
        opening: read.opening,
      };
    }
    case "mysql":
    case "mariadb": {
      const read = readServerUrl(url, "MySQL");
      return {
        brand: "MySQL",
        open: async (options) =>
          (await import("./dialects/mysql/mysql_driver.ts")).openMysql(read, connecting(options)),
        opening: read.opening,
      };
    }
  }
  throw new TypeError(`Cannot read database URL: it does not begin with ${SCHEMES}`);
}

/** Returns the limits of a driver, which only connects: the gate limits the wait for a turn. */
function connecting({ connectTimeoutMs, ...options }: OpenOptions): OpenOptions {
  return { ...options, acquireTimeoutMs: connectTimeoutMs ?? options.acquireTimeoutMs };
}
