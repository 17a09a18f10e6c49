/**
 * A pool of `postgres` whose reserved connections may be lost.
 *
 * @module
 */
import type { ReservedSql, Sql, UnsafeQueryOptions } from "postgres";

/** How long closing waits for queries, in seconds. */
const CLOSE_SECONDS = 5;

/** What `kysely-postgres-js` asks of `postgres`. */
type Face = Pick<Sql, "reserve" | "end" | "options">;

/** An option of queries that the driver uses itself and its types do not have. */
interface OnExecute {
  readonly onexecute: (connection: { readonly id: number }) => boolean;
}

/** A reserved connection that someone holds. */
interface Holder {
  /** The number the driver gave the connection; unknown until it runs something. */
  connection?: number;
  isLost: boolean;
}

/**
 * The driver does not tell whoever holds a reserved connection that it was lost: the next query would
 * end the process (a write to a socket that is gone), and releasing it would hand it to others. Here
 * such a query fails with `CONNECTION_CLOSED`, and what is lost is not released.
 */
export class ReservingPool {
  /** The driver. */
  readonly sql: Sql;
  readonly #holders = new Set<Holder>();

  /** Makes the driver, which is to tell of each connection that was closed. */
  constructor(make: (onclose: (connection: number) => void) => Sql) {
    this.sql = make((connection) => {
      for (const holder of this.#holders) holder.isLost ||= holder.connection === connection;
    });
  }

  /** The driver, as `kysely-postgres-js` sees it. */
  get face(): Sql {
    const face: Face = {
      reserve: () => this.#reserve(),
      end: () => this.close(),
      options: this.sql.options,
    };
    // These are the members that it uses.
    return face as Sql;
  }

  /** Connects a number of times at once, and keeps the connections. */
  async connect(times: number): Promise<void> {
    const connecting = Array.from({ length: times }, () => this.sql.reserve());
    const settled = await Promise.allSettled(connecting);
    for (const result of settled) if (result.status === "fulfilled") result.value.release();
    await Promise.all(connecting);
  }

  /** Closes all connections; queries have 5 s to end. */
  async close(): Promise<void> {
    await this.sql.end({ timeout: CLOSE_SECONDS });
  }

  async #reserve(): Promise<ReservedSql> {
    const reserved = await this.sql.reserve();
    const holder: Holder = { isLost: false };
    this.#holders.add(holder);
    // The driver hands over the connection that runs a query; an empty one costs no round trip.
    const options: UnsafeQueryOptions & OnExecute = {
      onexecute(connection) {
        holder.connection = connection.id;
        return true;
      },
    };
    reserved.unsafe("", [], options).catch(() => {});
    const face: Pick<ReservedSql, "unsafe" | "release"> = {
      unsafe: (query, parameters = [], options = {}) => {
        if (holder.isLost) throw lost();
        // Without values, several statements may be run at once.
        return parameters.length === 0
          ? reserved.unsafe(query)
          : reserved.unsafe(query, parameters, options);
      },
      release: () => {
        this.#holders.delete(holder);
        if (!holder.isLost) reserved.release();
      },
    };
    // These are the members that `kysely-postgres-js` uses.
    return face as ReservedSql;
  }
}

function lost(): Error {
  return Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
}
