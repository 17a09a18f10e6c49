/**
 * Listening for HTTP on the runtime at hand.
 *
 * @module
 */
import { getRuntimeKey } from "hono/adapter";
import type { Adapter, Address, FetchHandler, RuntimeServer } from "./adapter.ts";
import { DrainGate } from "./drain_gate.ts";
import { formatAddress, ListenError } from "./listen_error.ts";

/** Where a server listens. */
export interface ListenOptions {
  /**
   * The address, `127.0.0.1` for this machine alone. By default all of them, IPv4 and IPv6 (`::`),
   * or IPv4 (`0.0.0.0`) where there is no IPv6.
   */
  readonly hostname?: string | undefined;
}

/** Options of {@linkcode serve}. */
export interface ServeOptions extends ListenOptions {
  /** The port, 0 for any that is free; default 3000. */
  readonly port?: number | undefined;
}

/** How a server closes. */
export interface DrainOptions {
  /** How long requests in flight may take, in milliseconds; default 30 000. Then they are cut. */
  readonly drainMs?: number | undefined;
  /**
   * For how long connections are still accepted before that, in milliseconds; default 0, and 500
   * where a signal stops the application. From the
   * start, responses say `Connection: close`, so that clients leave by themselves. Those of the
   * last 100 ms are held until no more connections are accepted: by then a busy client waits for
   * its answer, and is not just sending a request on a connection that is closed for being idle.
   * Several seconds let a load balancer see that health has turned 503.
   */
  readonly lameDuckMs?: number | undefined;
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  /** The address it listens on. */
  readonly hostname: string;
  /** The port it listens on: the real one where 0 was asked. */
  readonly port: number;
  /** Where a browser on this machine finds it, such as `http://localhost:3000`. */
  readonly url: string;
  /**
   * Accepts no more connections, lets requests in flight finish for `drainMs`, cuts what is left,
   * and resolves when all is closed. WebSockets are closed with 1001. Later calls wait for the
   * first. Deno cannot cut: there, what is left after `drainMs` ends with the process.
   */
  close(options?: DrainOptions): Promise<void>;
}

/** For how long requests are held before connections are no more accepted. */
const HOLD_MS = 100;

/** The longest delay of `setTimeout`. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * Serves a handler on Deno, Bun or Node; resolves when it listens. It prints nothing.
 *
 * @throws {RangeError} if the port is not an integer from 0 to 65535
 * @throws {ListenError} if the address cannot be listened on
 * @throws {TypeError} on a runtime without servers, such as an edge runtime
 */
export async function serve(
  handler: FetchHandler,
  { port = 3000, hostname }: ServeOptions = {},
): Promise<HttpServer> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`Cannot listen on port ${port}: it is not an integer from 0 to 65535`);
  }
  const adapter = await loadAdapter();
  const gate = new DrainGate(handler);
  const listen = async (hostname: string) => {
    const server = await startOn(adapter, gate.fetch, { hostname, port });
    return toHttpServer(server, gate, hostname);
  };
  if (hostname !== undefined) return await listen(hostname);
  return await listen("::").catch((error: ListenError) => {
    if (error.code === "AddressNotAvailable") return listen("0.0.0.0");
    throw error;
  });
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
  adapter: Adapter,
  fetch: FetchHandler,
  address: Address,
): Promise<RuntimeServer> {
  try {
    return await adapter(fetch, address);
  } catch (error) {
    throw new ListenError(address, error);
  }
}

function toHttpServer(server: RuntimeServer, gate: DrainGate, hostname: string): HttpServer {
  const { port } = server;
  const isWildcard = hostname === "::" || hostname === "0.0.0.0";
  let closed: Promise<void> | undefined;
  return {
    hostname,
    port,
    url: `http://${formatAddress({ hostname: isWildcard ? "localhost" : hostname, port })}`,
    close: (options) => closed ??= close(server, gate, options),
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

async function close(
  server: RuntimeServer,
  gate: DrainGate,
  { drainMs = 30_000, lameDuckMs = 0 }: DrainOptions = {},
): Promise<void> {
  gate.drain();
  if (lameDuckMs > HOLD_MS) await sleep(lameDuckMs - HOLD_MS);
  if (lameDuckMs > 0) {
    gate.hold();
    await sleep(Math.min(lameDuckMs, HOLD_MS));
  }
  const stopped = drainMs > 0 ? server.stop() : server.cut();
  gate.release();
  const timer = setTimeout(() => server.cut(), Math.min(drainMs, MAX_DELAY_MS));
  await stopped.finally(() => clearTimeout(timer));
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(delayMs, MAX_DELAY_MS)));
}
