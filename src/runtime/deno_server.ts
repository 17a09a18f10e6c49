/**
 * A server of Deno that keeps listening.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { RuntimeServer } from "./adapter.ts";

/** How a server is started. */
export interface StartOptions {
  /** Closes the server. */
  readonly signal: AbortSignal;
  /** The port; 0 for that of the address. */
  readonly port: number;
  /** The requests of the server. */
  readonly underWay: UnderWay;
}

/** Starts a server. */
export type StartServer = (options: StartOptions) => Deno.HttpServer<Deno.Addr>;

/** How long it waits before it listens again, in milliseconds: twice as long after each failure. */
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1_000;

/**
 * Counts the requests without a response, and the WebSockets that were opened, of one server: its
 * shutdown would close them.
 */
export class UnderWay {
  #count = 0;
  #idle: (() => void) | undefined;

  /** Counts a request until its response; returns the response. */
  track(response: Response | Promise<Response>): Response | Promise<Response> {
    if (!(response instanceof Promise)) {
      if (response.status === 101) this.#count++;
      return response;
    }
    this.#count++;
    return response.then((response) => {
      if (response.status !== 101) this.#end();
      return response;
    }, (error) => {
      this.#end();
      throw error;
    });
  }

  /** Resolves when there are none. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle = resolve;
      if (this.#count === 0) resolve();
    });
  }

  #end(): void {
    if (--this.#count === 0) this.#idle?.();
  }
}

/**
 * A server that listens again when it cannot accept a connection. `Deno.serve` ends then for good,
 * for example when clients hold as many connections as the process may have descriptors.
 */
export class DenoServer implements RuntimeServer {
  /** The port; 0 on a Unix socket. */
  readonly port: number;
  readonly #start: StartServer;
  #abort = new AbortController();
  readonly #gaveUp = Promise.withResolvers<void>();
  /** Servers that have stopped accepting, until their connections are closed. */
  readonly #retired = new Set<Deno.HttpServer<Deno.Addr>>();
  #server: Deno.HttpServer<Deno.Addr> | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #delayMs = FIRST_DELAY_MS;
  #listeningSince = 0;
  #isStopping = false;

  /** Listens. */
  constructor(start: StartServer) {
    this.#start = start;
    const { addr } = this.#listen(0);
    this.port = "port" in addr ? addr.port : 0;
  }

  /** Accepts no more connections, and resolves when the requests under way have finished. */
  async stop(): Promise<void> {
    this.#end();
    const stopped = Promise.all([this.#server?.shutdown(), ...this.#shutDownRetired()]);
    await Promise.race([stopped, this.#gaveUp.promise]);
  }

  /**
   * Closes every connection. Deno cannot close those that a graceful shutdown waits for: they end
   * with the process.
   */
  async cut(): Promise<void> {
    this.#gaveUp.resolve();
    if (this.#isStopping) return;
    this.#end();
    this.#shutDownRetired();
    this.#abort.abort();
    await this.#server?.finished;
  }

  #end(): void {
    this.#isStopping = true;
    clearTimeout(this.#retry);
  }

  #listen(port: number): Deno.HttpServer<Deno.Addr> {
    this.#abort = new AbortController(); // Deno keeps a listener of each server on the signal
    const underWay = new UnderWay();
    const server = this.#start({ signal: this.#abort.signal, port, underWay });
    this.#server = server;
    this.#listeningSince = performance.now();
    const failed = (error: unknown) => {
      if (this.#isStopping) return;
      this.#server = undefined;
      void this.#retire(server, underWay);
      if (performance.now() - this.#listeningSince > LONGEST_DELAY_MS) {
        this.#delayMs = FIRST_DELAY_MS;
      }
      this.#listenAgain(error);
    };
    server.finished.then(() => failed("the server has ended"), failed);
    return server;
  }

  /**
   * Closes the connections of a server when it has no requests under way, so that idle ones leave
   * their descriptors. Before that, `shutdown` would interrupt the bodies that are being received.
   */
  async #retire(server: Deno.HttpServer<Deno.Addr>, underWay: UnderWay): Promise<void> {
    this.#retired.add(server);
    await underWay.idle();
    await server.shutdown().catch(() => {});
    this.#retired.delete(server);
  }

  #shutDownRetired(): readonly Promise<void>[] {
    return [...this.#retired].map((server) => server.shutdown().catch(() => {}));
  }

  #listenAgain(error: unknown): void {
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
    getLogger(["fw", "runtime"]).error(
      "Accepting connections failed: {error}; listening again in {delayMs} ms",
      { error, delayMs },
    );
    this.#retry = setTimeout(() => {
      try {
        this.#listen(this.port);
      } catch (error) {
        this.#listenAgain(error);
      }
    }, delayMs);
  }
}
