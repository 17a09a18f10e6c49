/**
 * The servers of an application: from the first that listens until all are closed.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { FetchHandler } from "./runtime/adapter.ts";
import { logToConsole } from "./runtime/console_log.ts";
import { stopOnSignals } from "./runtime/graceful.ts";
import { type DrainOptions, type HttpServer, type ListenOptions, serve } from "./runtime/listen.ts";

/** How an application closes. */
export interface CloseOptions extends DrainOptions {
  /** The signal that made it close; the hooks are told. */
  readonly signal?: string | undefined;
}

/** Opens servers for one handler, and closes them together. */
export class Serving {
  readonly #handler: FetchHandler;
  readonly #stop: (signal?: string) => Promise<void>;
  readonly #servers = new Set<HttpServer>();
  #closed: Promise<void> | undefined;
  #releaseSignals: (() => void) | undefined;

  /** Prepares to serve a handler; `stop` runs when all servers are closed. */
  constructor(handler: FetchHandler, stop: (signal?: string) => Promise<void>) {
    this.#handler = handler;
    this.#stop = stop;
  }

  /** Tells whether it has begun to close. */
  isDraining(): boolean {
    return this.#closed !== undefined;
  }

  /** Opens a server. */
  async listen(port: number, options: ListenOptions): Promise<HttpServer> {
    logToConsole();
    const server = await serve(this.#handler, { ...options, port });
    if (this.#closed) {
      await server.close();
      throw new TypeError("Cannot listen: the application is closed");
    }
    this.#servers.add(server);
    getLogger(["fw", "runtime"]).info("Listening on {url}", { url: server.url });
    return server;
  }

  /** Closes on SIGINT and SIGTERM, and ends the process then. */
  closeOnSignals({ drainMs, lameDuckMs }: DrainOptions): void {
    this.#releaseSignals ??= stopOnSignals({
      drainMs,
      lameDuckMs,
      onSignal: (signal, drain) => this.close({ signal, ...drain }),
    });
  }

  /** Drains every server, then stops what is behind them. Once; later calls wait for it. */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#closed ??= this.#close(options);
  }

  async #close({ signal, ...drain }: CloseOptions): Promise<void> {
    try {
      await Promise.all([...this.#servers].map((server) => server.close(drain)));
      await this.#stop(signal);
    } finally {
      this.#releaseSignals?.();
    }
  }
}
