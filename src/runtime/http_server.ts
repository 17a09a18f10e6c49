/**
 * A server that listens, until it has closed with care.
 *
 * @module
 */
import { MAX_DELAY_MS } from "../platform/time_limit.ts";
import type { Address, FetchHandler, RuntimeServer } from "./adapter.ts";
import { formatAddress } from "./listen_error.ts";

/** How a server closes. */
export interface DrainOptions {
  /**
   * How long requests in flight, and then the work that they have left to `waitUntil`, may take
   * together, in milliseconds; default 30 000. Then they are cut.
   */
  readonly drainMs?: number | undefined;
  /**
   * For how long connections are still accepted before that, in milliseconds; default 0, and 500
   * where a signal stops the application. From the start, responses say `Connection: close`, so that
   * clients leave by themselves. Those of the last 100 ms are held until no more connections are
   * accepted: by then a busy client waits for its answer, and is not just sending a request on a
   * connection that is closed for being idle. Several seconds let a load balancer see that health has
   * turned 503.
   */
  readonly lameDuckMs?: number | undefined;
}

/** A server that listens. */
export interface HttpServer extends AsyncDisposable {
  /** The address it listens on; empty on a Unix socket. */
  readonly hostname: string;
  /** The port it listens on: the real one where 0 was asked; 0 on a Unix socket. */
  readonly port: number;
  /**
   * Where a browser on this machine finds it, such as `http://localhost:3000`; on a Unix socket its
   * path, such as `unix:///run/app.sock`.
   */
  readonly url: string;
  /**
   * Accepts no more connections, lets requests in flight finish for `drainMs`, cuts what is left,
   * and resolves when all is closed. WebSockets are closed with 1001. Later calls wait for the
   * first. Deno cannot cut: there, what is left after `drainMs` ends with the process.
   */
  close(options?: DrainOptions): Promise<void>;
}

/** What a server is made of. */
export interface HttpServerParts {
  /** The runtime's server, which listens. */
  readonly server: RuntimeServer;
  /** What stands between it and the application. */
  readonly gate: DrainGate;
  /** Where it was asked to listen. */
  readonly address: Address;
  /** `https` if it has TLS. */
  readonly scheme: "http" | "https";
}

/** For how long requests are held before connections are no more accepted. */
const HOLD_MS = 100;

/** Makes a server of what a runtime's adapter gave. */
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

/** Passes requests to a handler; while draining, its responses tell the clients to leave. */
export class DrainGate {
  readonly #handler: FetchHandler;
  #draining = false;
  #held: PromiseWithResolvers<void> | undefined;

  /** Creates an open gate before a handler. */
  constructor(handler: FetchHandler) {
    this.#handler = handler;
  }

  /** Answers a request; bound to the gate. */
  readonly fetch: FetchHandler = (request, env) => {
    if (this.#held) return this.#held.promise.then(() => this.fetch(request, env));
    const response = this.#handler(request, env);
    return response instanceof Promise
      ? response.then((response) => this.#finish(response))
      : this.#finish(response);
  };

  /** From now on, every response carries `Connection: close`: those of requests in flight too. */
  drain(): void {
    this.#draining = true;
  }

  /** Keeps the requests that arrive from now on waiting. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  /** Lets the waiting requests through. */
  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  #finish(response: Response): Response {
    return this.#draining ? lastOfConnection(response) : response;
  }
}

/** Closes the connection after a response (RFC 9112 §9.6). */
function lastOfConnection(response: Response): Response {
  if (response.status === 101) return response;
  try {
    response.headers.set("connection", "close");
    return response;
  } catch {
    // The headers of a response that `fetch` gave cannot be changed.
    return lastOfConnection(new Response(response.body, response));
  }
}
