/**
 * A pool of connections of `postgres`, which may be lost.
 *
 * @module
 */
import type { ReservedSql, Sql } from "postgres";
import { within } from "../../../platform/time_limit.ts";
import type { PoolLimits } from "../../connection/connection.ts";
import type { StatementResult } from "../../connection/dialect.ts";
import type { Statement } from "../../connection/statement.ts";
import { IdleConnections } from "../server/idle_connections.ts";
import { explainPostgresError } from "./postgres_errors.ts";
import {
  type ConnectionSettings,
  PostgresConnection,
  type PostgresConnectionOptions,
} from "./postgres_connection.ts";

/** How long closing waits for queries, in seconds. */
const CLOSE_SECONDS = 5;
const IDLE_MS = 60_000;
/** How many statements are prepared on each connection, where they stay. */
const MAX_PREPARED = 1000;

/** What `kysely-postgres-js` asks of `postgres`. */
type Face = Pick<Sql, "reserve" | "end" | "options">;

/** How a pool is opened. */
export interface PostgresPoolOptions extends Pick<PostgresConnectionOptions, "net"> {
  /** Makes the driver for a connection; `known` is one that has learned the types of the database. */
  readonly make: (settings: ConnectionSettings, known: Sql | undefined) => Sql;
  /** How many connections are kept, and how long connecting may take; others see to the maximum. */
  readonly limits: PoolLimits;
}

/**
 * Whoever uses one of its connections has it for themselves. The driver's own pool does not tell that
 * a reserved connection was lost: the next query would end the process (a write to a socket that is
 * gone), and releasing it would hand it to others.
 */
export class PostgresPool {
  readonly #options: PostgresPoolOptions;
  readonly #lines = new Set<PostgresConnection>();
  readonly #idle: IdleConnections<PostgresConnection>;
  readonly #prepared = new Set<string>();
  #known: Sql | undefined;
  #turns = 0;
  #isClosed = false;

  /** Creates a pool without connections. */
  constructor(options: PostgresPoolOptions) {
    this.#options = options;
    this.#idle = new IdleConnections({
      idleMs: IDLE_MS,
      surplus: () => this.#lines.size - options.limits.min,
      end: (line) => this.#end(line),
    });
  }

  /** The pool, as `kysely-postgres-js` sees the driver. */
  get asSql(): Sql {
    const face: Face = {
      reserve: () => Promise.resolve(this.#reserve()),
      end: () => this.close(CLOSE_SECONDS),
      options: this.#connected.options,
    };
    // These are the members that it uses.
    return face as Sql;
  }

  /** Connects a number of times at once, and keeps the connections. */
  async connect(times: number): Promise<void> {
    const first = this.#take();
    await this.#within(first.unsafe(""));
    this.#known = first.sql;
    const lines = Array.from({ length: times - 1 }, () => this.#take());
    await this.#within(Promise.all(lines.map((line) => line.unsafe(""))));
    for (const line of [...lines, first]) this.#release(line);
  }

  /** Runs a statement on a connection of its own. */
  async run({ sql, parameters }: Statement): Promise<StatementResult> {
    const line = this.#take();
    try {
      // The driver takes what codecs encode to.
      const values = [...parameters] as string[];
      const rows = await line.sql.unsafe(sql, values, { prepare: this.#prepares(sql) }).values();
      return { rows, affectedRows: rows.count ?? 0 };
    } catch (error) {
      // The driver tells of the loss a moment later.
      if (explainPostgresError(error).code === "ConnectionLost") line.lose();
      throw error;
    } finally {
      this.#release(line);
    }
  }

  /** Closes all connections; queries have some seconds to end. */
  async close(seconds: number): Promise<void> {
    this.#isClosed = true;
    this.#idle.clear();
    await Promise.all([...this.#lines].map((line) => line.end(seconds)));
  }

  get #connected(): Sql {
    if (!this.#known) throw new TypeError("Cannot use pool: it has not connected");
    return this.#known;
  }

  #take(): PostgresConnection {
    if (this.#isClosed) throw Object.assign(new Error("closed"), { code: "CONNECTION_ENDED" });
    const idle = this.#idle.take();
    if (idle) return idle;
    const { make, net } = this.#options;
    const line = new PostgresConnection({
      make: (settings) => make(settings, this.#known),
      net,
      turn: this.#turns++,
      onLost: (lost) => {
        this.#idle.lose(lost);
        this.#end(lost);
      },
    });
    this.#lines.add(line);
    return line;
  }

  #release(line: PostgresConnection): void {
    if (!line.isLost && !this.#isClosed) this.#idle.add(line);
  }

  #end(line: PostgresConnection): void {
    if (this.#lines.delete(line)) void line.end(0);
  }

  #reserve(): ReservedSql {
    const line = this.#take();
    const face: Pick<ReservedSql, "unsafe" | "release"> = {
      // The driver's type of a query is made of its row's, which nobody asks for here.
      unsafe: ((sql, parameters, options) =>
        line.unsafe(sql, parameters, {
          ...options,
          prepare: this.#prepares(sql),
        })) as ReservedSql["unsafe"],
      release: () => this.#release(line),
    };
    // These are the members that `kysely-postgres-js` uses.
    return face as ReservedSql;
  }

  #prepares(sql: string): boolean {
    if (this.#prepared.has(sql)) return true;
    if (this.#prepared.size >= MAX_PREPARED) return false;
    this.#prepared.add(sql);
    return true;
  }

  /** Bounds what the driver does not: a server that hangs once it has let one in. */
  async #within(work: Promise<unknown>): Promise<void> {
    if (await within(work, this.#options.limits.acquireTimeoutMs)) return;
    throw Object.assign(new Error("connecting took too long"), { code: "CONNECT_TIMEOUT" });
  }
}
