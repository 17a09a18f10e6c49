/** Real databases that record their statements. */
import type { DatabaseConnection, Driver } from "kysely";
import { DbConnection } from "../../../src/db/connection/connection.ts";
import type { Grammar } from "../../../src/db/connection/grammar.ts";
import type { Dialect } from "../../../src/db/connection/dialect.ts";
import { DEFAULT_LIMITS, type PoolLimits } from "../../../src/db/connection/pool_limits.ts";
import { readServerUrl } from "../../../src/db/dialects/server/database_url.ts";
import type { TestDatabase } from "./database.ts";

/** A statement, and its bound values. */
export type Noted = readonly [sql: string, ...values: unknown[]];

/** The statements of a database. */
export class Notes {
  readonly #statements: Noted[] = [];
  #compiled = 0;

  /** How many statements were compiled so far. */
  get compiled(): number {
    return this.#compiled;
  }

  /** Returns the statements that were run since the last call. */
  take(): readonly Noted[] {
    return this.#statements.splice(0);
  }

  /** Notes a statement. */
  add(sql: string, parameters: readonly unknown[]): void {
    const values = parameters.filter((it) => typeof it !== "symbol"); // the driver's own marks
    this.#statements.push([sql.trim().replaceAll(/\s+/g, " "), ...values.map(plain)]);
  }

  /** Notes that one was compiled. */
  addCompiled(): void {
    this.#compiled += 1;
  }
}

/** A database that makes notes. */
export interface Noting<T> {
  readonly db: T;
  readonly notes: Notes;
  /** The server: MySQL and MariaDB are one brand. */
  readonly system: Grammar["system"];
}

/** Opens a database that makes notes. */
export async function openNoted<T extends AsyncDisposable>(
  Service: new (connection: DbConnection) => T,
  { brand, url }: TestDatabase,
  changes: Partial<PoolLimits> = {},
): Promise<Noting<T> & AsyncDisposable> {
  const limits = { ...DEFAULT_LIMITS, ...changes };
  const notes = new Notes();
  const dialect = noting(await openDialect({ brand, url }, limits), notes);
  const connection = new DbConnection(dialect, limits);
  const db = new Service(connection);
  const { system } = connection.grammar;
  return { db, notes, system, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

async function openDialect(
  { brand, url }: TestDatabase,
  limits: PoolLimits,
): Promise<Dialect> {
  switch (brand) {
    case "sqlite": {
      const { DatabaseSync } = await import("node:sqlite");
      const { Sqlite } = await import("../../../src/db/dialects/sqlite/sqlite_driver.ts");
      const database = new DatabaseSync(url.slice("sqlite:".length));
      return new Sqlite(database, { limits: { limitMs: 1000 } });
    }
    case "postgres": {
      const { openPostgres } = await import("../../../src/db/dialects/postgres/postgres_driver.ts");
      return await openPostgres(readServerUrl(url, "PostgreSQL"), limits);
    }
    case "mysql": {
      const { openMysql } = await import("../../../src/db/dialects/mysql/mysql_driver.ts");
      return await openMysql(readServerUrl(url, "MySQL"), limits);
    }
  }
}

function noting(dialect: Dialect, notes: Notes): Dialect {
  const { grammar, kysely, poolMax, transactionsLock } = dialect;
  return {
    grammar,
    ...(poolMax === undefined ? {} : { poolMax }),
    ...(transactionsLock === undefined ? {} : { transactionsLock }),
    kysely: {
      createAdapter: () => kysely.createAdapter(),
      createIntrospector: (db) => kysely.createIntrospector(db),
      createDriver: () => notingDriver(kysely.createDriver(), notes),
      createQueryCompiler() {
        const compiler = kysely.createQueryCompiler();
        return {
          compileQuery(node, id) {
            notes.addCompiled();
            return compiler.compileQuery(node, id);
          },
        };
      },
    },
    ...(dialect.runNow && {
      runNow(statement, inTransaction) {
        const result = dialect.runNow?.(statement, inTransaction);
        if (result) notes.add(statement.sql, statement.parameters);
        return result;
      },
    }),
    ...(dialect.runFree && {
      runFree(statement, execution) {
        notes.add(statement.sql, statement.parameters);
        return dialect.runFree!(statement, execution);
      },
    }),
    close: () => dialect.close?.(),
  };
}

/** Wraps each connection, by which the driver also begins and ends transactions. */
function notingDriver(driver: Driver, notes: Notes): Driver {
  const inner = new WeakMap<DatabaseConnection, DatabaseConnection>();
  return {
    init: () => driver.init(),
    async acquireConnection() {
      const connection = await driver.acquireConnection();
      const wrapped: DatabaseConnection = {
        executeQuery(query) {
          notes.add(query.sql, query.parameters);
          return connection.executeQuery(query);
        },
        streamQuery: (query, chunkSize) => connection.streamQuery(query, chunkSize),
      };
      inner.set(wrapped, connection);
      return wrapped;
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    releaseConnection: (connection) => driver.releaseConnection(inner.get(connection)!),
    destroy: () => driver.destroy(),
  };
}

/** MySQL's driver gets a whole number as a bigint, with its type. */
function plain(parameter: unknown): unknown {
  const isTyped = typeof parameter === "object" && parameter !== null && "value" in parameter;
  const value = isTyped ? parameter.value : parameter;
  return typeof value === "bigint" ? Number(value) : value;
}
