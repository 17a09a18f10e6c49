/**
 * Listening for HTTP on the runtime at hand.
 *
 * @module
 */
import { getRuntimeKey } from "hono/adapter";
import type { Adapter, Address, FetchHandler, RuntimeServer, TlsOptions } from "./adapter.ts";
import { checkCertificate, ListenError, listenErrorCode } from "./listen_error.ts";
import { DrainGate, type HttpServer, toHttpServer } from "./http_server.ts";

/** How a server listens. */
export interface ListenOptions {
  /**
   * The address, `127.0.0.1` for this machine alone. By default all of them, IPv4 and IPv6 (`::`),
   * or IPv4 (`0.0.0.0`) where there is no IPv6. A Unix socket has none.
   */
  readonly hostname?: string | undefined;
  /**
   * Serves HTTPS with this certificate; by default HTTP, as on a Unix socket. Deno speaks HTTP/2
   * with clients that offer it, Bun and Node speak HTTP/1.1 alone.
   */
  readonly tls?: TlsOptions | undefined;
}

/** Options of {@linkcode serve}. */
export interface ServeOptions extends ListenOptions {
  /** The port, 0 for any that is free; default 3000. */
  readonly port?: number | undefined;
  /** The path of a Unix socket, in place of a port. */
  readonly path?: string | undefined;
}

/**
 * Serves a handler on Deno, Bun or Node; resolves when it listens. It prints nothing.
 *
 * @throws {RangeError} if the port is not an integer from 0 to 65535
 * @throws {ListenError} if the address cannot be listened on, or the certificate is not valid
 * @throws {TypeError} on a runtime without servers, such as an edge runtime; if the path of a Unix
 * socket is none, or comes with a host name or TLS
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<HttpServer> {
  const { port = 3000, path, hostname, tls } = options;
  // one that is not set, as a variable of the environment may be, must not open a port
  if ("path" in options) checkPath(path, { hostname, tls });
  else checkPort(port);
  const adapter = await loadAdapter();
  const gate = new DrainGate(handler);
  const scheme = tls ? "https" : "http";
  const listen = async (address: Address) => {
    const server = await startOn(address, async () => {
      if (tls) await checkCertificate(tls);
      return await adapter(gate.fetch, address, { tls });
    });
    return toHttpServer({ server, gate, address, scheme });
  };
  if (path !== undefined) return await listen({ path });
  if (hostname !== undefined) return await listen({ hostname, port });
  return await listen({ hostname: "::", port }).catch((error: ListenError) => {
    if (error.code === "AddressNotAvailable") return listen({ hostname: "0.0.0.0", port });
    throw error;
  });
}

function checkPort(port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`Cannot listen on port ${port}: it is not an integer from 0 to 65535`);
  }
}

/** Deno has no TLS on Unix sockets, and what is on one machine needs none. */
function checkPath(path: unknown, { hostname, tls }: ListenOptions): void {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    const shown = typeof path === "string" ? JSON.stringify(path) : String(path);
    throw new TypeError(`Cannot listen on a Unix socket: ${shown} is no path`);
  }
  if (hostname === undefined && tls === undefined) return;
  const part = tls ? "TLS" : "host name";
  throw new TypeError(`Cannot listen on ${path}: a Unix socket has no ${part}`);
}

async function loadAdapter(): Promise<Adapter> {
  switch (getRuntimeKey()) {
    case "deno":
      return (await import("./deno.ts")).listenOnDeno;
    case "bun":
      return (await import("./bun.ts")).listenOnBun;
    case "node":
      return (await import("./node.ts")).listenOnNode;
    default:
      throw new TypeError("Cannot listen on this runtime: it calls the exported `fetch` instead");
  }
}

async function startOn(
  address: Address,
  start: () => Promise<RuntimeServer>,
): Promise<RuntimeServer> {
  try {
    return await start().catch(async (error) => {
      if (!await removedStaleSocket(address, error)) throw error;
      return await start();
    });
  } catch (error) {
    throw new ListenError(address, error);
  }
}

/** Removes a socket's file that a killed process has left, if that is in the way; tells whether. */
async function removedStaleSocket(address: Address, error: unknown): Promise<boolean> {
  if (!("path" in address) || listenErrorCode(error) !== "AddressInUse") return false;
  const { removeStaleSocket } = await import("./unix_socket.ts");
  return await removeStaleSocket(address.path);
}
