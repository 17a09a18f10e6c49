/**
 * Chooses the server of a connection among the hosts of a URL.
 *
 * @module
 */
import { within } from "../../../platform/time_limit.ts";
import type { Host } from "../server/hosts.ts";
import type { ServerSettings } from "../server/url_parameters.ts";
import type { PostgresConnection } from "./postgres_connection.ts";

/** How long a host is preferred to those after it, in milliseconds, while it does not answer. */
const HEAD_START_MS = 500;

/** For how long connections join a choice that is being made: servers may have come back since. */
const JOINED_MS = 500;

const INSPECT = `select pg_is_in_recovery() as standby,
  current_setting('transaction_read_only') = 'on' as readonly`;

/** What a server is. */
interface ServerState {
  readonly standby: boolean;
  readonly readonly: boolean;
}

type Target = Exclude<ServerSettings["targetSession"], "prefer-standby" | undefined>;

/** Whether a server is one of a kind (libpq manual, 34.1.2, `target_session_attrs`). */
const IS: Readonly<Record<Target, (state: ServerState) => boolean>> = {
  "read-write": ({ readonly }) => !readonly,
  "read-only": ({ readonly }) => readonly,
  primary: ({ standby }) => !standby,
  standby: ({ standby }) => standby,
};

/** How a server is chosen. */
export interface PostgresHostsOptions extends Pick<ServerSettings, "targetSession"> {
  /** The hosts, the preferred ones first. */
  readonly hosts: readonly Host[];
  /** Returns a connection to a host, which is used once. */
  readonly open: (host: Host) => PostgresConnection;
  /** How long a server may take to report its kind, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * The hosts of a URL. Each new connection goes to the first that answers and is of the wanted kind,
 * so that it finds the primary after a failover. The driver would take a standby for `read-write`,
 * and fail with a host that is down.
 */
export class PostgresHosts {
  readonly #options: PostgresHostsOptions;
  #choice: { readonly host: Promise<Host>; readonly sinceMs: number } | undefined;

  /** Creates a choice among hosts. */
  constructor(options: PostgresHostsOptions) {
    this.#options = options;
  }

  /**
   * Returns the host for a new connection; connections that are opened together share the choice.
   *
   * @throws {Error} if no host answers and is of the wanted kind
   */
  async choose(): Promise<Host> {
    const { hosts: [first, second], targetSession } = this.#options;
    if (first && !second && !targetSession) return first;
    const last = this.#choice;
    if (last && performance.now() - last.sinceMs < JOINED_MS) return await last.host;
    const choice = { host: this.#search(), sinceMs: performance.now() };
    this.#choice = choice;
    try {
      return await choice.host;
    } finally {
      if (this.#choice === choice) this.#choice = undefined;
    }
  }

  #search(): Promise<Host> {
    const { targetSession } = this.#options;
    if (targetSession !== "prefer-standby") return this.#first(targetSession);
    return this.#first("standby").catch(() => this.#first(undefined));
  }

  async #first(target: Target | undefined): Promise<Host> {
    const { hosts, open } = this.#options;
    const connections = hosts.map(open);
    const found = hosts.map((host, i) =>
      this.#check(host, { connection: connections[i]!, target })
    );
    const settled = Promise.allSettled(found);
    try {
      for (const each of found) {
        try {
          if (await within(each, HEAD_START_MS)) return await each;
        } catch {
          // the next one may do
        }
      }
      return await Promise.any(found);
    } catch (error) {
      const { errors } = error as AggregateError;
      const { code } = errors[0];
      throw Object.assign(new Error(errors.map(({ message }) => message).join(", ")), { code });
    } finally {
      for (const connection of connections) void connection.end(0);
      await settled; // those that have not answered fail
    }
  }

  /** Returns the host if it answers and is of a kind. */
  async #check(
    host: Host,
    { connection, target }: {
      readonly connection: PostgresConnection;
      readonly target: Target | undefined;
    },
  ): Promise<Host> {
    const inspection = connection.unsafe(INSPECT);
    const isInTime = await within(inspection, this.#options.timeoutMs);
    const [state] = isInTime ? await inspection : [];
    if (!state) throw targetError("CONNECT_TIMEOUT", "connecting took too long");
    if (target && !IS[target](state as unknown as ServerState)) {
      throw targetError("CONNECT_TARGET", `${host.hostname}:${host.port || 5432} is not ${target}`);
    }
    return host;
  }
}

function targetError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
