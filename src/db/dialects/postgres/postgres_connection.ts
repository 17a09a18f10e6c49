/**
 * A connection of `postgres`, which is not replaced when it is lost.
 *
 * @module
 */
import type { Socket } from "node:net";
import type { Notice, Options, PendingQuery, PostgresType, Row, Sql } from "postgres";
import { within } from "../../../platform/time_limit.ts";
import { CANCEL_MS } from "../../transaction/statement_watch.ts";
import { TransactionState } from "../../transaction/transaction_state.ts";
import type { Host } from "../server/hosts.ts";
import {
  explainPostgresError,
  isDestroyed,
  isOutdatedPlan,
  lostConnection,
  mayBeOutdated,
} from "./postgres_errors.ts";
import { type PostgresTls, startTls } from "./postgres_tls.ts";

type Net = Pick<typeof import("node:net"), "Socket" | "isIP">;
type Types = Record<string, PostgresType>;
type Query = PendingQuery<Row[]>;
/** A query; its type lacks the function that its `cancel` calls. */
type Cancellable = { readonly canceller: (query: unknown) => Promise<void> };
/** A query; its type lacks the functions that the driver calls when it ends. */
type Settling = { resolve: (result: unknown) => void; reject: (error: unknown) => void };

/** The function of the server that warns of a commit which has not reached the standbys. */
const UNCONFIRMED = "SyncRepWaitForLSN";

/** With which byte an answer ends: no transaction, one, or a failed one (ReadyForQuery, 55.7). */
const [IDLE, OPEN, FAILED] = [0x49, 0x54, 0x45];

/** The settings of the driver for a connection; its types lack some of these. */
export interface ConnectionSettings
  extends Pick<Options<Types>, "max" | "idle_timeout" | "onclose"> {
  readonly backoff: boolean;
  readonly max_lifetime: null;
  readonly onparameter: () => void;
  readonly onnotice: (notice: Notice) => void;
  readonly socket: (target: Target) => Promise<Socket>;
}

/** The address of a socket of Unix, if it is one. */
interface Target {
  readonly path?: string | false;
}

/** How a connection is opened. */
export interface PostgresConnectionOptions {
  /** Creates the driver with settings. */
  readonly make: (settings: ConnectionSettings) => Sql;
  /** Creates sockets. */
  readonly net: Net;
  /** How it is encrypted, if it is. */
  readonly tls: PostgresTls | undefined;
  /** Chooses the server. */
  readonly choose: () => Host | Promise<Host>;
  /** Called when the connection is lost. */
  readonly onLost: (line: PostgresConnection) => void;
}

/** A statement that has failed. */
export interface FailedStatement {
  /** Its SQL. */
  readonly sql: string;
  /** Whether an earlier use has prepared it. */
  readonly wasPrepared: boolean;
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
  /** What the statements of its user have done to its transaction. */
  readonly transaction = new TransactionState();
  readonly #options: PostgresConnectionOptions;
  #host: Host | undefined;
  #socket: Socket | undefined;
  #cancelSocket: Socket | undefined;
  readonly #ended = Promise.withResolvers<void>();
  #isReady = false;
  #isSpent = false;
  #isRetired = false;
  #isEnded = false;
  #cancelling: Promise<void> | undefined;
  #isLost = false;
  #isUnconfirmed = false;
  #lastByte: number | undefined;

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
      onnotice: ({ routine }) => void (this.#isUnconfirmed ||= routine === UNCONFIRMED),
      socket: async (target) => this.#observe(await this.#connect(target)),
    });
  }

  /** Whether the connection is lost or ended. */
  get isLost(): boolean {
    return this.#isLost || this.#isEnded;
  }

  /** Whether it must be closed after its use; the server then rolls back an open transaction. */
  get isSpent(): boolean {
    return this.#isSpent || this.#isRetired || this.#isTransactionOpen === true;
  }

  /** Closes it after its use: its server is read-only, and another one may have taken over. */
  retire(): void {
    this.#isRetired = true;
  }

  /**
   * Closes it after its use if a failed statement was prepared by earlier uses, which may have been
   * before a migration. Returns whether that is so; otherwise, the statement itself is wrong, or a
   * pooler has prepared it before: the driver then takes it for prepared, without its columns.
   */
  isOutdated(error: unknown, { sql, wasPrepared }: FailedStatement): boolean {
    if (!mayBeOutdated(error)) return false;
    if (wasPrepared || isOutdatedPlan(error)) this.retire();
    else this.prepared.delete(sql);
    return wasPrepared;
  }

  /**
   * Fails if the wait of its commit for synchronous standbys was cancelled: the server reports
   * success, with a warning, and a failover may undo what was committed.
   */
  confirm(): void {
    if (this.#isUnconfirmed) throw lostConnection();
  }

  /** Marks the connection as lost. */
  lose(): void {
    if (this.isLost) return;
    this.#isLost = true;
    this.#options.onLost(this);
  }

  /** Sends a statement, or a script of several: it has no parameters, and is not prepared. */
  send(...[sql, parameters = [], { prepare = false } = {}]: Parameters<Sql["unsafe"]>): Query {
    if (prepare) this.prepared.add(sql);
    const options = { prepare, simple: parameters.length === 0 && !prepare };
    return this.sql.unsafe(sql, parameters, options);
  }

  /** Sends a statement as `send` does, for `kysely-postgres-js`, which can cancel it. */
  unsafe(...[sql, parameters, options]: Parameters<Sql["unsafe"]>): Query {
    if (this.isLost) throw lostConnection();
    const wasPrepared = this.prepared.has(sql);
    const query = this.send(sql, parameters, options);
    const cursor = query.cursor.bind(query);
    const { resolve, reject } = query as unknown as Settling;
    return Object.assign(query, {
      cursor: (size?: number) => this.#all(cursor(size)),
      cancel: () => void this.cancel(query),
      resolve: (result: unknown) => {
        if (this.#isUnconfirmed) this.lose();
        const failure = this.#isUnconfirmed
          ? lostConnection()
          : this.transaction.after(this.#isTransactionOpen);
        if (failure) reject(failure);
        else resolve(result);
      },
      reject: (error: unknown) => {
        if (explainPostgresError(error).code === "ReadOnly") this.retire();
        this.isOutdated(error, { sql, wasPrepared });
        reject(this.#isLost && isDestroyed(error) ? lostConnection() : error);
      },
    });
  }

  /**
   * Cancels a statement on the server; a server that does not answer loses the connection. Later
   * statements are not cancelled: only a rollback comes after the first cancellation.
   */
  async cancel(query: PromiseLike<unknown>): Promise<void> {
    const settled = Promise.resolve(query.then(ignore, ignore));
    if (!this.#isSpent) {
      this.#isSpent = true;
      // the driver's own method drops the promise of this one, which fails if the server is lost
      const { canceller } = query as unknown as Cancellable;
      this.#cancelling = canceller(query).catch(ignore);
    }
    if (await within(Promise.race([settled, this.#ended.promise]), CANCEL_MS)) return;
    this.#cancelling = undefined; // the server does not hear it
    this.lose();
  }

  /** Closes the connection; its query has some seconds to end. */
  async end(seconds: number): Promise<void> {
    this.#isEnded = true;
    this.#ended.resolve();
    // A request that is cut off would reach whom a pooler gives the connection next.
    if (this.#cancelling) await within(this.#cancelling, CANCEL_MS);
    await this.sql.end({ timeout: seconds });
    // A connection that hangs would not close by itself.
    this.#socket?.destroy();
    this.#cancelSocket?.destroy();
  }

  /** Whether a transaction is open, if the last answer is complete. */
  get #isTransactionOpen(): boolean | undefined {
    if (this.#lastByte === IDLE) return false;
    return this.#lastByte === OPEN || this.#lastByte === FAILED || undefined;
  }

  /** Yields the chunks of a cursor, and fails where the driver would only stop. */
  async *#all<T>(cursor: AsyncIterable<T>): AsyncGenerator<T> {
    const chunks = cursor[Symbol.asyncIterator]();
    let isDone = false;
    try {
      for (;;) {
        const { done, value } = await chunks.next();
        isDone = done === true;
        if (this.isLost) throw lostConnection();
        if (isDone) return;
        yield value;
      }
    } finally {
      // The driver would write to a closed socket.
      if (!isDone && !this.isLost) await chunks.return?.();
    }
  }

  async #connect({ path }: Target): Promise<Socket> {
    const { net, tls } = this.#options;
    const socket = new net.Socket();
    if (this.#socket && (this.isLost || !this.#isReady)) {
      // The driver has not added its listeners yet; it fails all pending queries one
      // after the other.
      setTimeout(() => socket.destroy(lostConnection()));
      return socket;
    }
    try {
      const { hostname, port } = await this.#choose();
      const host = hostname.replace(/^\[(.*)\]$/, "$1"); // an address of IPv6
      // The driver opens another socket only to cancel a statement.
      if (this.#socket) this.#cancelSocket = socket;
      else this.#socket = this.#watch(socket);
      if (path) return socket.connect(path);
      socket.connect(Number(port || 5432), host);
      if (!tls) return socket;
      const secured = await startTls(socket, { ...tls, host, isAddress: net.isIP(host) !== 0 });
      if (secured !== socket && this.#socket === socket) this.#socket = this.#watch(secured);
      return secured;
    } catch (error) {
      this.lose();
      socket.destroy();
      throw error;
    }
  }

  /** Returns the server: a statement is cancelled where it runs. */
  async #choose(): Promise<Host> {
    this.#host ??= await this.#options.choose();
    if (this.isLost) throw lostConnection(); // meanwhile
    return this.#host;
  }

  #observe(socket: Socket): Socket {
    return socket.on("data", (chunk: Uint8Array) => void (this.#lastByte = chunk.at(-1)));
  }

  #watch(socket: Socket): Socket {
    return socket.once("error", () => this.lose()).once("end", () => this.lose());
  }
}

function ignore(): void {}
