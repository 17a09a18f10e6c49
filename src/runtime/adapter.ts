/**
 * What a runtime's adapter takes and gives.
 *
 * @module
 */

/**
 * Answers a request. `env` is what the runtime tells of the connection: Deno's `ServeHandlerInfo`, the
 * `{ incoming, outgoing }` of `@hono/node-server`, or on Bun `{ server, remoteAddr: { hostname } }`.
 */
export type FetchHandler = (request: Request, env?: object) => Response | Promise<Response>;

/** Where to listen. */
export interface Address {
  /** An IP address or a host name. */
  readonly hostname: string;
  /** The port; 0 for any that is free. */
  readonly port: number;
}

/** A listening server of one runtime. */
export interface RuntimeServer {
  /** The port it listens on. */
  readonly port: number;
  /**
   * Accepts no more connections, closes the idle ones, and resolves when the others have been
   * answered and closed. WebSockets are told that the server goes away.
   */
  stop(): Promise<void>;
  /** Closes every connection at once. */
  cut(): Promise<void>;
}

/** Starts listening. */
export type Adapter = (
  fetch: FetchHandler,
  address: Address,
) => RuntimeServer | Promise<RuntimeServer>;

/** How a server that stops closes its WebSockets (RFC 6455 §7.4.1); Deno does it so by itself. */
export const GOING_AWAY: readonly [code: number, reason: string] = [1001, "Server shutting down"];

/**
 * Tells whether a request can be answered: it is not one for a tunnel (`CONNECT`, which has no path),
 * and its URL is made of a host.
 */
export function isAnswerable({ method, headers }: Request): boolean {
  return method !== "CONNECT" && isHost(headers.get("host"));
}

/**
 * Tells whether a `Host` is a host and perhaps a port (RFC 9110 §7.2). The URL of a request is made of
 * it, so anything else could choose the path, or make a URL that is none. A missing one is, as
 * HTTP/1.0 has it.
 */
function isHost(host: string | null): boolean {
  if (!host) return true;
  const [, port = "0"] = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i.exec(host) ?? [, "none"];
  return Number(port) <= 65_535;
}
