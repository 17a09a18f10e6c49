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

/** A TCP address to listen on. */
export interface TcpAddress {
  /** An IP address or a host name. */
  readonly hostname: string;
  /** The port; 0 for any that is free. */
  readonly port: number;
}

/** A Unix domain socket to listen on. */
export interface UnixAddress {
  /**
   * Where its file is. What a killed process has left there is replaced, any other file is not; the
   * file is removed when the server closes. Who may connect is as the process's umask says.
   */
  readonly path: string;
}

/** Where to listen. */
export type Address = TcpAddress | UnixAddress;

/** What makes a server one of HTTPS. */
export interface TlsOptions {
  /** The certificate in PEM, followed by those of the authorities between it and a trusted one. */
  readonly cert: string;
  /** The certificate's private key in PEM, not encrypted. */
  readonly key: string;
}

/** How a runtime's server listens. */
export interface AdapterOptions {
  /** Serves HTTPS; HTTP by default. */
  readonly tls?: TlsOptions | undefined;
}

/** A listening server of one runtime. */
export interface RuntimeServer {
  /** The port it listens on, 0 on a Unix socket. */
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
  options: AdapterOptions,
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
