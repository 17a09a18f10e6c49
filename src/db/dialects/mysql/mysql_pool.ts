/**
 * The open connections of a pool of `mysql2`.
 *
 * @module
 */
import type { Duplex } from "node:stream";
import type { Pool, PoolConnection } from "mysql2";
import { within } from "../../../platform/time_limit.ts";
import { IdleConnections } from "../server/idle_connections.ts";
import { type Abandon, lost } from "./mysql_connection.ts";

const IDLE_MS = 60_000;
/** How long closing waits for queries, in milliseconds. */
const CLOSE_MS = 5000;
const GOODBYE_MS = 500;

/**
 * Adds to the driver's pool: closes idle connections after a minute, ignores a second error of a
 * lost connection, and limits the wait for a server that hangs.
 */
export class MysqlPoolKeeper {
  readonly #pool: Pool;
  readonly #open = new Set<PoolConnection>();
  readonly #idle: IdleConnections<PoolConnection>;

  /** Watches a pool, of which `min` connections are kept open. */
  constructor(pool: Pool, min: number) {
    this.#pool = pool;
    this.#idle = new IdleConnections({
      idleMs: IDLE_MS,
      surplus: () => this.#open.size - min,
      end: (connection) => this.#end(connection),
    });
    pool.on("connection", (connection) => this.#watch(connection));
    pool.on("acquire", (connection) => void this.#idle.delete(connection));
    pool.on("release", (connection) => this.#idle.add(connection));
  }

  /** The number of idle connections. */
  get idle(): number {
    return this.#idle.size;
  }

  /**
   * Ends a connection with its pending queries; the pool forgets it at once. If the server hangs,
   * the idle connections may be lost too, and are ended.
   */
  readonly abandon: Abandon = (connection, { isHung }) => {
    if (this.#open.delete(connection) && isHung) this.#idle.lose(connection);
    streamOf(connection).destroy(lost());
    connection.destroy();
  };

  /** Closes the pool; queries have 5 s to end, and the server then a moment to close. */
  async close(): Promise<void> {
    this.#idle.clear();
    const streams = [...this.#open].map(streamOf);
    const closed = streams.map((stream) => new Promise((resolve) => stream.once("close", resolve)));
    await within(new Promise<void>((resolve) => this.#pool.end(() => resolve())), CLOSE_MS);
    await within(Promise.all(closed), GOODBYE_MS);
    for (const stream of streams) stream.destroy(lost());
  }

  #watch(connection: PoolConnection): void {
    this.#open.add(connection);
    const lose = () => {
      if (this.#open.delete(connection)) this.#idle.lose(connection);
    };
    connection.on("error", lose);
    connection.on("end", lose);
  }

  #end(connection: PoolConnection): void {
    this.#open.delete(connection);
    connection.destroy();
    streamOf(connection).destroy();
  }
}

function streamOf(connection: PoolConnection): Duplex {
  // The driver's types lack it.
  return (connection as unknown as { readonly stream: Duplex }).stream;
}
