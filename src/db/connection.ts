/**
 * A connection to one open database: how statements get to it.
 *
 * @module
 */
import { CompiledQuery, Kysely } from "kysely";
import type { Dialect, DriverRow } from "./dialect.ts";
import { DbError, dbError } from "./errors.ts";
import type { Statement } from "./operation.ts";

/** Tables whose names and columns are known at run time only. */
export type AnyTables = Record<string, Record<string, unknown>>;

/** An open database; made by `DbOptions.open`. */
export class DbConnection {
  /** Kysely on the database. */
  readonly kysely: Kysely<AnyTables>;
  /** What the database's brand does in its own way. */
  readonly dialect: Dialect;
  #closed = false;

  /** Takes over an open database. */
  constructor(dialect: Dialect) {
    this.dialect = dialect;
    this.kysely = new Kysely({ dialect: dialect.kysely });
  }

  /**
   * Runs a statement; `action` is for the error message, as in `"create users"`.
   *
   * @throws {DbError} if it fails
   */
  async execute(action: string, { sql, parameters }: Statement): Promise<readonly DriverRow[]> {
    if (this.#closed) throw dbError(action, { code: "PoolClosed" });
    try {
      return this.dialect.runNow?.(sql, parameters) ?? await this.#queue(sql, parameters);
    } catch (error) {
      throw error instanceof DbError ? error : dbError(action, this.dialect.explain(error), error);
    }
  }

  /** Closes the database; from then on everything fails with `PoolClosed`. May be called again. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.kysely.destroy();
    // Kysely closes nothing that it has not used.
    await this.dialect.close();
  }

  async #queue(sql: string, parameters: readonly unknown[]): Promise<readonly DriverRow[]> {
    const { rows } = await this.kysely.executeQuery(CompiledQuery.raw(sql, [...parameters]));
    return rows.map((row) => Object.values(row as object));
  }
}
