/**
 * The interface of the runtimes' adapters.
 *
 * @module
 */

/**
 * Handles a request. `env` describes the connection: Deno's `ServeHandlerInfo`, the
 * `{ incoming, outgoing }` of `@hono/node-server`, or on Bun
 * `{ server, remoteAddr: { hostname } }`.
 */
export type FetchHandler = (request: Request, env?: object) => Response | Promise<Response>;

/**
 * Middleware of a runtime: refuses with 400 a request that the handler cannot read, and replaces a
 * response that the runtime cannot send by a 500.
 */
export type FetchMiddleware = (
  request: Request,
  answer: (request: Request) => Response | Promise<Response>,
) => Response | Promise<Response>;

/** A TCP address to listen on. */
export interface TcpAddress {
  /** An IP address or a host name. */
  readonly hostname: string;
  /** The port; 0 for any free one. */
  readonly port: number;
}

/** A Unix domain socket to listen on. */
export interface UnixAddress {
  /**
   * The path of its file. A socket that a killed process left there is replaced, any other
   * file is not; the file is removed when the server closes. The umask of the process
   * restricts who can connect.
   */
  readonly path: string;
}

/** The address of a server. */
export type Address = TcpAddress | UnixAddress;

/** The certificate of a server. */
export interface TlsOptions {
  /** The certificate in PEM, followed by its intermediate certificates. */
  readonly cert: string;
  /** The private key of the certificate in PEM, not encrypted. */
  readonly key: string;
}

/** Options of an {@linkcode Adapter}. */
export interface AdapterOptions {
  /** Serves HTTPS; HTTP by default. */
  readonly tls?: TlsOptions | undefined;
  /** The most connections at once, on Node. */
  readonly maxConnections?: number | undefined;
}

/**
 * The most connections that wait to be accepted while the event loop is busy: 511 by default on
 * Deno and Node. The kernel allows no more than its own limit, `net.core.somaxconn` on Linux.
 */
export const BACKLOG = 4096;

/** A listening server of a runtime. */
export interface RuntimeServer {
  /** The port; 0 on a Unix socket. */
  readonly port: number;
  /**
   * Resolves when `stop()` interrupts no body that is being received; `undefined` if none is. It
   * does not wait for later ones: those that `stop()` interrupts are answered with 503. Only Deno
   * needs it.
   */
  receive?(): Promise<void> | undefined;
  /**
   * Accepts no more connections, closes the idle ones, and resolves when the requests of the others
   * have finished. WebSockets are closed with {@linkcode GOING_AWAY}.
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

/** The close code of WebSockets when the server stops (RFC 6455 §7.4.1). */
export const GOING_AWAY: readonly [code: number, reason: string] = [1001, "Server shutting down"];

/** The controls that `Headers` takes, although no field value can have them (RFC 9110 §5.5). */
// deno-lint-ignore no-control-regex
export const CONTROL: RegExp = /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/** What the head of a request names. */
export interface RequestTarget {
  readonly method: string | undefined;
  /** Its URL, or its target alone. */
  readonly url: string;
  /** The field `Host`. */
  readonly host: string | null | undefined;
}

/**
 * Checks whether a request can be handled: it does not ask for a tunnel (`CONNECT`, which has no
 * path), its `Host` is valid, and its URL has the scheme HTTP, a valid host and a path. The URL has
 * the target of the request if that is absolute (RFC 9112 §3.2.2), or the `:authority` of HTTP/2.
 */
export function isAnswerable({ method, url, host }: RequestTarget): boolean {
  return method !== "CONNECT" && isHost(host) && isHttp(url);
}

/** The statuses of responses that have no body for GET either. */
const NO_BODY: readonly number[] = [101, 204, 205, 304];

/**
 * Passes a response to HEAD through `withoutLength` if it has the length 0 only because its body
 * was removed: `Content-Length` is that of GET or missing (RFC 9110 §8.6).
 */
export async function answerHead(
  answer: Response | Promise<Response>,
  withoutLength: (response: Response) => Response,
): Promise<Response> {
  const response = await answer;
  const { body, headers, status } = response;
  const isKnown = body !== null || headers.has("content-length") || NO_BODY.includes(status);
  return isKnown ? response : withoutLength(response);
}

/** The last beginning of a URL that was valid: most requests to a server have the same. */
let lastOrigin = "/"; // Node passes only the target, and Bun only the path without a host

/** Checks a URL up to its path, which `URL` cannot parse if it has another host than `Host`. */
function isHttp(url: string): boolean {
  if (url.startsWith(lastOrigin)) return true;
  const [origin, host] = /^(?:https?:\/\/([^/?#]+))?\//i.exec(url) ?? [];
  if (origin === undefined || !isHost(host)) return false;
  lastOrigin = origin;
  return true;
}

/** The last host that was valid: most requests to a server name the same. */
let lastHost: string | undefined;

/**
 * Checks whether a `Host` is a host with an optional port (RFC 9110 §7.2). The URL of a request
 * contains it, so any other text could change the path or make the URL invalid. A missing one is
 * valid, as in HTTP/1.0.
 */
function isHost(host: string | null | undefined): boolean {
  if (!host || host === lastHost) return true;
  const [, port = "0"] = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i.exec(host) ?? [, "none"];
  const isValid = Number(port) <= 65_535 && URL.parse(`http://${host}`) !== null; // not 1.2.3.999
  if (isValid) lastHost = host;
  return isValid;
}
