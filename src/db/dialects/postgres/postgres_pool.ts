/**
 * A pool of connections of `postgres`, which replaces lost ones.
 *
 * @module
 */
import type { ReservedSql, Sql } from "postgres";
import { within } from "../../../platform/time_limit.ts";
import type { PoolLimits } from "../../connection/pool_limits.ts";
import type { DriverRow, Statement, StatementResult } from "../../connection/statement.ts";
import type { Execution } from "../../transaction/execution.ts";
import { IdleConnections } from "../server/idle_connections.ts";
import { addArrayTypes, ARRAY_TYPES } from "./array_types.ts";
import { explainPostgresError } from "./postgres_errors.ts";
import {
  type ConnectionSettings,
  PostgresConnection,
  type PostgresConnectionOptions,
} from "./postgres_connection.ts";
import { PostgresHosts, type PostgresHostsOptions } from "./postgres_hosts.ts";

/** How long closing waits for queries, in seconds. */
const CLOSE_SECONDS = 5;
const IDLE_MS = 60_000;
/** For how long a connection must have been idle to be checked before its use, in milliseconds. */
const CHECKED_MS = 10;
/** After how many turns of the event loop the runtimes have looked at all sockets. */
const TURNS = 4;
/**
 * The maximum number of prepared statements on each connection. The driver cannot forget one, so a
 * connection with as many is closed after its use, and the next prepares those that are still used.
 */
const MAX_PREPARED = 1000;

/** A statement that reads, and no script of several, which cannot be prepared. */
const ONE_READ = /^select [^;]*$/;

/** The longest SQL in characters that is prepared: the driver and the server would keep it. */
const MAX_PREPARED_LENGTH = 16_384;

/** The members of `postgres` that `kysely-postgres-js` uses. */
type Face = Pick<Sql, "reserve" | "end" | "options">;

/** How a pool is opened. */
export interface PostgresPoolOptions
  extends
    Pick<PostgresConnectionOptions, "net" | "tls">,
    Pick<PostgresHostsOptions, "hosts" | "targetSession"> {
  /** Creates the driver of a connection; `known` is one that has read the types of the database. */
  readonly make: (settings: ConnectionSettings, known: Sql | undefined) => Sql;
  /**
   * The minimum number of connections and the time limit of connecting; the gate
   * limits the maximum.
   */
  readonly limits: PoolLimits;
  /** Whether statements are prepared by name; by default unless a pooler is in between. */
  readonly prepare: boolean | undefined;
}

/** A session of PostgreSQL. */
interface Session {
  /** Whether values are read exactly, as is the default of PostgreSQL. */
  readonly isExact: boolean;
  /** Whether it is that of the connection: a pooler has process ids of its own. */
  readonly isDirect: boolean;
  /** The schema in which tables are created, and looked up first. */
  readonly schema: string | undefined;
}

/** Inspects a session, who answers, and the types of arrays. */
const INSPECT = `select pg_backend_pid() as pid, (${ARRAY_TYPES}) as arrays,
  current_schema() as schema, current_setting('extra_float_digits')::int > 0
    and current_setting('bytea_output') = 'hex' as exact`;

/**
 * A caller has exclusive use of its connection. The driver's pool does not report the loss of a
 * reserved connection: the next query would end the process (a write to a closed socket), and a
 * released one would be reused.
 */
export class PostgresPool {
  readonly #options: PostgresPoolOptions;
  readonly #lines = new Set<PostgresConnection>();
  readonly #idle: IdleConnections<PostgresConnection>;
  readonly #hosts: PostgresHosts;
  #known: Sql | undefined;
  #canPrepare = true;
  #isClosed = false;

  /** Creates a pool without connections. */
  constructor(options: PostgresPoolOptions) {
    this.#options = options;
    this.#hosts = new PostgresHosts({
      ...options,
      open: (host) => this.#open({ choose: () => host, onLost: () => {} }),
      timeoutMs: options.limits.acquireTimeoutMs,
    });
    this.#idle = new IdleConnections({
      idleMs: IDLE_MS,
      surplus: () => this.#lines.size - options.limits.min,
      end: (line) => this.#end(line),
    });
  }

  /** The number of idle connections. */
  get idle(): number {
    return this.#idle.size;
  }

  /** The pool, as the driver of `kysely-postgres-js`. */
  get asSql(): Sql {
    const face: Face = {
      reserve: () => this.#reserve(),
      end: () => this.close(CLOSE_SECONDS),
      options: this.#connected.options,
    };
    // It uses only these members.
    return face as Sql;
  }

  /** Opens connections at the same time, and keeps them. Returns what the sessions are like. */
  async connect(times: number): Promise<Session> {
    const first = this.#take();
    const inspection = first.unsafe(INSPECT);
    await this.#within(inspection);
    const { state, 0: session } = await inspection;
    addArrayTypes(first.sql.options, session?.["arrays"] ?? {});
    this.#known = first.sql;
    const isDirect = state.pid === session?.["pid"];
    // A pooler may run each transaction on another connection.
    this.#canPrepare = this.#options.prepare ?? isDirect;
    const lines = Array.from({ length: times - 1 }, () => this.#take());
    await this.#within(Promise.all(lines.map((line) => line.unsafe(""))));
    for (const line of [...lines, first]) this.#release(line);
    const isExact = session?.["exact"] === true;
    return { isExact, isDirect, schema: session?.["schema"] ?? undefined };
  }

  /** Runs a statement on any connection. */
  async run(statement: Statement, execution: Execution): Promise<StatementResult> {
    const { sql, parameters } = statement;
    if (this.#idle.nextIdleMs > CHECKED_MS) await polled();
    const line = this.#take();
    const wasPrepared = line.prepared.has(sql);
    try {
      // The driver accepts the values that codecs return.
      const values = [...parameters] as string[];
      const query = line.send(sql, values, { prepare: this.#prepares(statement, line) });
      // V8 allocates a function that is assigned to a property among its old objects, as the driver
      // does for each query: rows that it refers to would be kept until a full collection.
      const cancel = () => void line.cancel(query);
      execution.cancel = cancel;
      let received: DriverRow[] = [];
      const { count } = await query.values().forEach((row) => received.push(row));
      line.confirm();
      const rows = received;
      received = [];
      return { rows, affectedRows: count ?? 0 };
    } catch (error) {
      const { code } = explainPostgresError(error);
      // The driver reports the loss a moment later.
      if (code === "ConnectionLost") line.lose();
      if (code === "ReadOnly") line.retire();
      if (!line.isOutdated(error, { sql, wasPrepared })) throw error;
    } finally {
      this.#release(line);
    }
    // prepared before a migration; it has changed nothing, and a new connection prepares it anew
    return await this.run(statement, execution);
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
    const line = this.#open({
      choose: () => this.#hosts.choose(),
      onLost: (lost) => {
        this.#idle.lose(lost);
        this.#end(lost);
      },
    });
    this.#lines.add(line);
    return line;
  }

  #open(own: Pick<PostgresConnectionOptions, "choose" | "onLost">): PostgresConnection {
    const { make, net, tls } = this.#options;
    return new PostgresConnection({
      ...own,
      make: (settings) => make(settings, this.#known),
      net,
      tls,
    });
  }

  #release(line: PostgresConnection): void {
    if (line.isLost || this.#isClosed) return;
    if (line.prepared.size < MAX_PREPARED && !line.isSpent) this.#idle.add(line);
    else this.#end(line);
  }

  #end(line: PostgresConnection): void {
    if (this.#lines.delete(line)) void line.end(0);
  }

  async #reserve(): Promise<ReservedSql> {
    if (this.#idle.nextIdleMs > CHECKED_MS) await polled();
    const line = this.#take();
    const face: Pick<ReservedSql, "unsafe" | "release"> = {
      // The driver's type of a query depends on that of its row, which is unknown here.
      unsafe: ((sql, values = [], options) => {
        const parameters = line.transaction.before(sql, values) ? [] : values;
        const prepare = this.#prepares({ sql, parameters }, line);
        return line.unsafe(sql, parameters, { ...options, prepare });
      }) as ReservedSql["unsafe"],
      release: () => {
        this.#release(line);
        line.transaction.release();
      },
    };
    // `kysely-postgres-js` uses only these members.
    return face as ReservedSql;
  }

  #prepares(
    { sql, parameters }: Pick<Statement, "sql" | "parameters">,
    { prepared }: PostgresConnection,
  ): boolean {
    if (prepared.has(sql)) return true;
    if (parameters.length === 0 && !ONE_READ.test(sql)) return false;
    return this.#canPrepare && prepared.size < MAX_PREPARED && sql.length <= MAX_PREPARED_LENGTH;
  }

  /**
   * Limits the wait for a server that hangs after it has accepted a connection; the
   * driver does not.
   */
  async #within(work: Promise<unknown>): Promise<void> {
    if (await within(work, this.#options.limits.acquireTimeoutMs)) return;
    throw Object.assign(new Error("connecting took too long"), { code: "CONNECT_TIMEOUT" });
  }
}

/**
 * Waits until the loss of connections is reported that the server has closed while the process was
 * held up, or frozen: a statement on one of them would fail.
 */
async function polled(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
}
