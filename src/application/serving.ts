/**
 * The servers of an application: from the first that listens until all are closed.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { FetchHandler, UnixAddress } from "../runtime/adapter.ts";
import type { Background } from "../runtime/background.ts";
import type { DrainOptions, HttpServer } from "../runtime/http_server.ts";
import type { ListenOptions } from "../runtime/listen.ts";

/** How an application closes. */
export interface CloseOptions extends DrainOptions {
  /** The signal that made it close; the hooks are told. */
  readonly signal?: string | undefined;
}

/** What ends with the servers. */
export interface ServingOptions {
  /** What requests leave to be done after their responses; it is waited for. */
  readonly background: Background;
  /** Runs when all servers are closed, and that is done. */
  readonly stop: (signal?: string) => Promise<void>;
}

/** Opens servers for one handler, and closes them together. What serves is loaded with the first. */
export class Serving {
  readonly #handler: FetchHandler;
  readonly #background: Background;
  readonly #stop: ServingOptions["stop"];
  readonly #servers = new Set<HttpServer>();
  #closed: Promise<void> | undefined;
  #releaseSignals: (() => void) | undefined;

  /** Prepares to serve a handler. */
  constructor(handler: FetchHandler, { background, stop }: ServingOptions) {
    this.#handler = handler;
    this.#background = background;
    this.#stop = stop;
  }

  /** Tells whether it has begun to close. */
  isDraining(): boolean {
    return this.#closed !== undefined;
  }

  /** Opens a server. */
  async listen(address: number | UnixAddress, options: ListenOptions): Promise<HttpServer> {
    const { serve } = await import("../runtime/listen.ts");
    const where = typeof address === "object" ? { path: address.path } : { port: address };
    const server = await serve(this.#handler, { ...options, ...where });
    if (this.#closed) {
      await server.close();
      throw new TypeError("Cannot listen: the application is closed");
    }
    this.#servers.add(server);
    getLogger(["fw", "runtime"]).info("Listening on {url}", { url: server.url });
    return server;
  }

  /** Closes on SIGINT and SIGTERM, and ends the process then. */
  async closeOnSignals({ drainMs, lameDuckMs }: DrainOptions): Promise<void> {
    const { stopOnSignals } = await import("../runtime/graceful.ts");
    this.#releaseSignals ??= stopOnSignals({
      drainMs,
      lameDuckMs,
      onSignal: (signal, drain) => this.close({ signal, ...drain }),
    });
  }

  /** Lets go of the signals, unless something listens. */
  releaseSignals(): void {
    if (this.#servers.size > 0) return;
    this.#releaseSignals?.();
    this.#releaseSignals = undefined;
  }

  /** Drains every server, then stops what is behind them. Once; later calls wait for it. */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#closed ??= this.#close(options);
  }

  async #close({ signal, drainMs = 30_000, lameDuckMs = 0 }: CloseOptions): Promise<void> {
    const endMs = performance.now() + lameDuckMs + drainMs;
    try {
      const drain = { drainMs, lameDuckMs };
      await Promise.all([...this.#servers].map((server) => server.close(drain)));
      await this.#background.end(Math.max(0, endMs - performance.now()));
      await this.#stop(signal);
    } finally {
      this.#releaseSignals?.();
    }
  }
}
