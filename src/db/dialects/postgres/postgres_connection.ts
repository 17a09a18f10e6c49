/**
 * A connection of `postgres`, which is not replaced when it is lost.
 *
 * @module
 */
import type { Socket } from "node:net";
import type { Options, PendingQuery, PostgresType, Row, Sql } from "postgres";

type Net = Pick<typeof import("node:net"), "Socket">;
type Types = Record<string, PostgresType>;
type Query = PendingQuery<Row[]>;

/** The settings of the driver for a connection; its types lack some of these. */
export interface ConnectionSettings
  extends Pick<Options<Types>, "max" | "idle_timeout" | "onclose"> {
  readonly backoff: boolean;
  readonly max_lifetime: null;
  readonly onparameter: () => void;
  readonly socket: (target: Target) => Promise<Socket>;
}

/** The address of a socket; lists have several servers to choose from. */
interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

/** How a connection is opened. */
export interface PostgresConnectionOptions {
  /** Creates the driver with settings. */
  readonly make: (settings: ConnectionSettings) => Sql;
  /** Creates sockets. */
  readonly net: Net;
  /** The index of the server to choose. */
  readonly turn: number;
  /** Called when the connection is lost. */
  readonly onLost: (line: PostgresConnection) => void;
}

/**
 * A driver with a single connection, which is opened once. By default the driver would reconnect
 * for the next statement, even inside a lost transaction; would retry forever if the server closes
 * each connection at once; and would end a stream early without an error.
 */
export class PostgresConnection {
  /** The driver. */
  readonly sql: Sql;
  /** The statements that it has prepared. */
  readonly prepared = new Set<string>();
  readonly #options: PostgresConnectionOptions;
  #socket: Socket | undefined;
  #isReady = false;
  #isLost = false;

  /** Creates the driver, which connects at its first use. */
  constructor(options: PostgresConnectionOptions) {
    this.#options = options;
    this.sql = options.make({
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      backoff: false,
      onclose: () => this.lose(),
      onparameter: () => void (this.#isReady = true),
      socket: (target) => Promise.resolve(this.#connect(target)),
    });
  }

  /** Whether the connection is lost. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Marks the connection as lost. */
  lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#options.onLost(this);
  }

  /** Runs a statement, or without parameters a script of several. */
  unsafe(...[sql, parameters = [], options]: Parameters<Sql["unsafe"]>): Query {
    if (this.#isLost) throw lost();
    // Without values, the simple protocol runs several statements.
    const query: Query = parameters.length === 0
      ? this.sql.unsafe(sql)
      : this.sql.unsafe(sql, parameters, options);
    const cursor = query.cursor.bind(query);
    return Object.assign(query, { cursor: (size?: number) => this.#all(cursor(size)) });
  }

  /** Closes the connection; its query has some seconds to end. */
  async end(seconds: number): Promise<void> {
    await this.sql.end({ timeout: seconds });
    // A connection that hangs would not close by itself.
    this.#socket?.destroy();
  }

  /** Yields the chunks of a cursor, and fails where the driver would only stop. */
  async *#all<T>(cursor: AsyncIterable<T>): AsyncGenerator<T> {
    const chunks = cursor[Symbol.asyncIterator]();
    let isDone = false;
    try {
      for (;;) {
        const { done, value } = await chunks.next();
        isDone = done === true;
        if (this.#isLost) throw lost();
        if (isDone) return;
        yield value;
      }
    } finally {
      // The driver would write to a closed socket.
      if (!isDone && !this.#isLost) await chunks.return?.();
    }
  }

  #connect({ host, port, path }: Target): Socket {
    const socket = new this.#options.net.Socket();
    if (this.#socket && (this.#isLost || !this.#isReady)) {
      // The driver has not added its listeners yet; it fails all pending queries one
      // after the other.
      setTimeout(() => socket.destroy(lost()));
      return socket;
    }
    // The driver opens another socket only to cancel a statement.
    this.#socket ??= socket.once("error", () => this.lose()).once("end", () => this.lose());
    if (path) return socket.connect(path);
    const index = this.#options.turn % host.length;
    // The driver checks the server's certificate by this name.
    Object.assign(socket, { host: host[index], port: port[index] });
    return socket.connect(port[index] ?? 5432, host[index] ?? "localhost");
  }
}

function lost(): Error {
  return Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
}
