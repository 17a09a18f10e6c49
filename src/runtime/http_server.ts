/**
 * A listening server and its graceful shutdown.
 *
 * @module
 */
import { upgraded } from "../core/http/pending_upgrade.ts";
import { MAX_DELAY_MS, within } from "../platform/time_limit.ts";
import type { Address, FetchHandler, RuntimeServer } from "./adapter.ts";
import { formatAddress } from "./listen_error.ts";

/** Options of `close()`. */
export interface DrainOptions {
  /**
   * The time limit in milliseconds for requests in flight and then for the work they passed to
   * `waitUntil`, together; default 30 000. After that, connections are closed.
   */
  readonly drainMs?: number | undefined;
  /**
   * How long connections are still accepted before that, in milliseconds; default 0, and 500 if
   * a signal stops the application. During this time responses have `Connection: close`, so that
   * clients close their connections. Requests of the last 100 ms wait until no more connections
   * are accepted: a busy client then waits for a response, and does not send a request on an
   * idle connection that is being closed. Several seconds let a load balancer see that health
   * responds with 503.
   */
  readonly lameDuckMs?: number | undefined;
}

/** A listening server. */
export interface HttpServer extends AsyncDisposable {
  /** The address; empty on a Unix socket. */
  readonly hostname: string;
  /** The port: the actual one if it was 0; 0 on a Unix socket. */
  readonly port: number;
  /**
   * The URL for a browser on this machine, such as `http://localhost:3000`; for a Unix socket its
   * path, such as `unix:///run/app.sock`.
   */
  readonly url: string;
  /**
   * Accepts no more connections, waits up to `drainMs` for requests in flight, closes the remaining
   * connections, and resolves when all are closed. WebSockets are closed with 1001. Later calls
   * wait for the first. On Deno, connections that remain after `drainMs` end with the process.
   */
  close(options?: DrainOptions): Promise<void>;
}

/** The parts of a server. */
export interface HttpServerParts {
  /** The listening server of the runtime. */
  readonly server: RuntimeServer;
  /** The gate between it and the application. */
  readonly gate: DrainGate;
  /** The requested address. */
  readonly address: Address;
  /** `https` with TLS. */
  readonly scheme: "http" | "https";
}

/** How long requests wait before the server stops accepting connections, in milliseconds. */
const HOLD_MS = 100;

/** How many turns of the event loop without a new request end the wait for those that come. */
const QUIET_TURNS = 3;
const TURN_MS = 5;

/** A turn that takes longer, in milliseconds, was held up: what came meanwhile is not read yet. */
const LATE_MS = 20;

/** The most turns, on a machine that is always late or under a steady load. */
const MOST_TURNS = 50;

/** Creates a server from the server of a runtime. */
export function toHttpServer({ server, gate, address, scheme }: HttpServerParts): HttpServer {
  let closed: Promise<void> | undefined;
  return {
    ...located(address, { port: server.port, scheme }),
    close: (options) => closed ??= close(server, gate, options),
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

/**
 * Passes requests to a handler, and begins the upgrades that it responds with; while draining, its
 * responses have `Connection: close`.
 */
export class DrainGate {
  readonly #handler: FetchHandler;
  #draining = false;
  #held: PromiseWithResolvers<void> | undefined;
  #arrived = 0;

  /** Creates an open gate. */
  constructor(handler: FetchHandler) {
    this.#handler = handler;
  }

  /** Handles a request; bound to the gate. */
  readonly fetch: FetchHandler = (request, env) => {
    if (this.#held) {
      this.#arrived++;
      return this.#held.promise.then(() => this.fetch(request, env));
    }
    const response = this.#handler(request, env);
    return response instanceof Promise
      ? response.then((response) => this.#finish(response))
      : this.#finish(response);
  };

  /** Sets `Connection: close` on every later response, including those of requests in flight. */
  drain(): void {
    this.#draining = true;
  }

  /** Makes later requests wait until `release()`. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  /**
   * Makes later requests wait, and resolves when those have arrived whose connections the kernel
   * had accepted: an event loop that was held up has not read them yet. Takes at most half of the
   * time until `endMs`, so that there is time to handle them.
   */
  async settle(endMs: number): Promise<void> {
    this.hold();
    let startMs = performance.now();
    const lastMs = (startMs + endMs) / 2;
    for (let turns = 0, quiet = 0; quiet < QUIET_TURNS && turns < MOST_TURNS; turns++) {
      if (startMs >= lastMs) return;
      const before = this.#arrived;
      await sleep(TURN_MS);
      const now = performance.now();
      quiet = this.#arrived === before && now - startMs < LATE_MS ? quiet + 1 : 0;
      startMs = now;
    }
  }

  /** Passes the waiting requests to the handler. */
  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  #finish(response: Response): Response | Promise<Response> {
    return upgraded(this.#draining ? lastOfConnection(response) : response);
  }
}

function located(
  address: Address,
  { port, scheme }: { readonly port: number; readonly scheme: string },
): Pick<HttpServer, "hostname" | "port" | "url"> {
  if ("path" in address) {
    const { path } = address;
    return {
      hostname: "",
      port,
      url: encodeURI(path.startsWith("/") ? `unix://${path}` : `unix:${path}`),
    };
  }
  const { hostname } = address;
  const isWildcard = hostname === "::" || hostname === "0.0.0.0";
  const reachable = { hostname: isWildcard ? "localhost" : hostname, port };
  return { hostname, port, url: `${scheme}://${formatAddress(reachable)}` };
}

async function close(
  server: RuntimeServer,
  gate: DrainGate,
  { drainMs = 30_000, lameDuckMs = 0 }: DrainOptions = {},
): Promise<void> {
  gate.drain();
  if (lameDuckMs > HOLD_MS) await sleep(lameDuckMs - HOLD_MS);
  const holdMs = Math.min(lameDuckMs, HOLD_MS);
  if (holdMs > 0) {
    gate.hold();
    await sleep(holdMs);
  }
  const endMs = performance.now() + drainMs;
  const stopped = drainMs > 0 ? stop({ server, gate, holdMs, endMs }) : cut(server, gate);
  if (!await within(stopped, drainMs)) void server.cut();
  await stopped;
}

/** A server to stop, and its times. */
interface StopParts extends Pick<HttpServerParts, "server" | "gate"> {
  /** How long requests wait before the listener closes, in milliseconds. */
  readonly holdMs: number;
  /** When connections are closed, by `performance.now()`. */
  readonly endMs: number;
}

/** Closes the listener when every request has arrived that would be lost with it. */
async function stop({ server, gate, holdMs, endMs }: StopParts): Promise<void> {
  await gate.settle(endMs);
  const receiving = server.receive?.();
  if (receiving) {
    gate.release();
    await receiving;
    gate.hold();
    await sleep(holdMs);
    await gate.settle(endMs);
  }
  const stopped = server.stop();
  gate.release();
  await stopped;
}

async function cut(server: RuntimeServer, gate: DrainGate): Promise<void> {
  const closed = server.cut();
  gate.release();
  await closed;
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.min(delayMs, MAX_DELAY_MS)));
}

/** Closes the connection after a response (RFC 9112 §9.6). */
function lastOfConnection(response: Response): Response {
  if (response.status === 101) return response;
  try {
    response.headers.set("connection", "close");
    return response;
  } catch {
    // The headers of a response from `fetch` are immutable.
    return lastOfConnection(new Response(response.body, response));
  }
}
