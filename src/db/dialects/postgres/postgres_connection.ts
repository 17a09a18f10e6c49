/**
 * One connection of `postgres`, which is not replaced when it is lost.
 *
 * @module
 */
import type { Socket } from "node:net";
import type { Options, PendingQuery, PostgresType, Row, Sql } from "postgres";

type Net = Pick<typeof import("node:net"), "Socket">;
type Types = Record<string, PostgresType>;
type Query = PendingQuery<Row[]>;

/** How the driver is to be made for a line; its types do not have all of these. */
export interface ConnectionSettings
  extends Pick<Options<Types>, "max" | "idle_timeout" | "onclose"> {
  readonly backoff: boolean;
  readonly max_lifetime: null;
  readonly onparameter: () => void;
  readonly socket: (target: Target) => Promise<Socket>;
}

/** Where the driver wants a socket to lead; lists have several servers to choose from. */
interface Target {
  readonly host: readonly string[];
  readonly port: readonly number[];
  readonly path?: string | false;
}

/** How a line is opened. */
export interface PostgresConnectionOptions {
  /** Makes the driver with settings. */
  readonly make: (settings: ConnectionSettings) => Sql;
  /** Makes sockets. */
  readonly net: Net;
  /** Which of several servers to choose. */
  readonly turn: number;
  /** Is told when the connection is gone. */
  readonly onLost: (line: PostgresConnection) => void;
}

/**
 * A driver that has one connection, once. Left to itself the driver would connect anew for the next
 * statement, be it one of a transaction that was lost; would try for ever where the server takes
 * connections only to close them; and would give half of a stream for the whole.
 */
export class PostgresConnection {
  /** The driver. */
  readonly sql: Sql;
  readonly #options: PostgresConnectionOptions;
  #socket: Socket | undefined;
  #isReady = false;
  #isLost = false;

  /** Makes the driver, which connects when it is first used. */
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

  /** Whether the connection is gone. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Takes note that the connection is gone. */
  lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#options.onLost(this);
  }

  /** Runs a statement; one without parameters may be several. */
  unsafe(...[sql, parameters = [], options]: Parameters<Sql["unsafe"]>): Query {
    if (this.#isLost) throw lost();
    // Without values, several statements may be run at once.
    const query: Query = parameters.length === 0
      ? this.sql.unsafe(sql)
      : this.sql.unsafe(sql, parameters, options);
    const cursor = query.cursor.bind(query);
    return Object.assign(query, { cursor: (size?: number) => this.#all(cursor(size)) });
  }

  /** Closes the connection; what it runs has some seconds to end. */
  async end(seconds: number): Promise<void> {
    await this.sql.end({ timeout: seconds });
    // One that hangs would not answer to being closed.
    this.#socket?.destroy();
  }

  /** Gives the chunks of a cursor, and fails where the driver would only stop. */
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
      // The driver would write to a socket that is gone.
      if (!isDone && !this.#isLost) await chunks.return?.();
    }
  }

  #connect({ host, port, path }: Target): Socket {
    const socket = new this.#options.net.Socket();
    if (this.#socket && (this.#isLost || !this.#isReady)) {
      // The driver is yet to listen, and fails all that waits, one after the other.
      setTimeout(() => socket.destroy(lost()));
      return socket;
    }
    // Only to cancel a statement does it want another.
    this.#socket ??= socket.once("error", () => this.lose()).once("end", () => this.lose());
    if (path) return socket.connect(path);
    const index = this.#options.turn % host.length;
    // By this name the driver checks the server's certificate.
    Object.assign(socket, { host: host[index], port: port[index] });
    return socket.connect(port[index] ?? 5432, host[index] ?? "localhost");
  }
}

function lost(): Error {
  return Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
}
