/**
 * Listens for HTTP on Deno, Bun or Node.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { checkNames, refusing } from "../platform/option_names.ts";
import { getRuntimeKey } from "hono/adapter";
import type { Adapter, Address, FetchHandler, RuntimeServer, TlsOptions } from "./adapter.ts";
import { checkCertificate, ListenError, listenErrorCode } from "./listen_error.ts";
import { DrainGate, type HttpServer, toHttpServer } from "./http_server.ts";

/** Options of a listening server. */
export interface ListenOptions {
  /**
   * The address; `127.0.0.1` accepts only connections from this machine. By default all
   * addresses, IPv4 and IPv6 (`::`), or only IPv4 (`0.0.0.0`) on a machine without IPv6. Not for
   * a Unix socket.
   */
  readonly hostname?: string | undefined;
  /**
   * Serves HTTPS with this certificate; by default HTTP. Not for a Unix socket. Deno supports
   * HTTP/2, Bun and Node only HTTP/1.1.
   */
  readonly tls?: TlsOptions | undefined;
  /**
   * The most connections at once, a positive integer; by default there is no limit. Node closes
   * further ones at once. Deno and Bun have no such limit: there it is logged that a proxy has to
   * limit them.
   */
  readonly maxConnections?: number | undefined;
}

/** Options of {@linkcode serve}. */
export interface ServeOptions extends ListenOptions {
  /** The port, 0 for any free one; default 3000. */
  readonly port?: number | undefined;
  /** The path of a Unix socket, instead of a port. */
  readonly path?: string | undefined;
}

/**
 * Serves a handler on Deno, Bun or Node; resolves when the server listens. It prints nothing.
 *
 * @throws {RangeError} if the port is not an integer from 0 to 65535, or `maxConnections` not a
 * positive integer
 * @throws {ListenError} if the address is not available, or the certificate is invalid
 * @throws {TypeError} if an option is unknown or of another type; on a runtime without servers,
 * such as an edge runtime; if the path of a Unix socket is invalid, or is combined with a host name
 * or TLS
 */
export async function serve(
  handler: FetchHandler,
  options: ServeOptions = {},
): Promise<HttpServer> {
  checkNames(options, {
    known: ["port", "path", "hostname", "tls", "maxConnections"],
    refuse: refusing("listen"),
  });
  const { port = 3000, path, hostname, tls, maxConnections } = options;
  // an undefined path, such as a missing environment variable, must not open a port
  if ("path" in options) checkPath(path, { hostname, tls });
  else checkPort(port);
  checkKinds(hostname, tls);
  checkConnections(maxConnections);
  const adapter = await loadAdapter();
  const gate = new DrainGate(handler);
  const scheme = tls ? "https" : "http";
  const listen = async (address: Address) => {
    const server = await startOn(address, async () => {
      if (tls) await checkCertificate(tls);
      return await adapter(gate.fetch, address, { tls, maxConnections });
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

/** An empty host name would be every address, and `null` for TLS a server without it. */
function checkKinds(hostname: unknown, tls: unknown): void {
  const refuse = refusing("listen");
  if (hostname !== undefined && (typeof hostname !== "string" || hostname === "")) {
    refuse("hostname is not the text of an address");
  }
  if (tls !== undefined && (typeof tls !== "object" || tls === null)) {
    refuse("tls is not a certificate and its key");
  }
}

function checkConnections(max: number | undefined): void {
  if (max === undefined) return;
  if (!Number.isSafeInteger(max) || max < 1) {
    throw new RangeError(`Cannot listen: maxConnections ${max} is not a positive integer`);
  }
  const runtime = getRuntimeKey();
  if (runtime === "node") return;
  getLogger(["fw", "runtime"]).warn(
    "maxConnections is not in force: {runtime} has no limit of connections, a proxy has to limit " +
      "them",
    { runtime },
  );
}

/** Deno does not support TLS on Unix sockets, and connections within a machine do not need it. */
function checkPath(path: unknown, { hostname, tls }: ListenOptions): void {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    const shown = typeof path === "string" ? JSON.stringify(path) : String(path);
    throw new TypeError(`Cannot listen on a Unix socket: ${shown} is not a path`);
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

/** Removes the socket's file of a killed process if it caused the error; returns whether it did. */
async function removedStaleSocket(address: Address, error: unknown): Promise<boolean> {
  if (!("path" in address) || listenErrorCode(error) !== "AddressInUse") return false;
  const { removeStaleSocket } = await import("./unix_socket.ts");
  return await removeStaleSocket(address.path);
}
