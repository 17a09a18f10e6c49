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

/** How long requests that come during the stop can delay it, in milliseconds. */
const LATE_MS = 1_000;

/**
 * Counts the requests without a response, and the WebSockets that were opened, of one server: its
 * shutdown would close them.
 */
export class UnderWay {
  #count = 0;
  #idle: (() => void) | undefined;
  /** The responses to requests that can have a body. */
  readonly #receiving = new Set<Promise<Response>>();

  /** Counts a request until its response; returns the response. */
  track(
    method: string,
    response: Response | Promise<Response>,
  ): Response | Promise<Response> {
    if (!(response instanceof Promise)) {
      if (response.status === 101) this.#count++;
      return response;
    }
    this.#count++;
    const canHaveBody = method !== "GET" && method !== "HEAD";
    if (canHaveBody) this.#receiving.add(response);
    return response.then((answer) => {
      if (canHaveBody) this.#receiving.delete(response);
      if (answer.status !== 101) this.#end();
      return answer;
    }, (error) => {
      if (canHaveBody) this.#receiving.delete(response);
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

  /**
   * Resolves when the requests that can have a body have their responses. Those that come meanwhile
   * delay it by up to a second.
   */
  async received(): Promise<void> {
    await Promise.allSettled(this.#receiving);
    const endMs = performance.now() + LATE_MS;
    while (this.#receiving.size > 0 && performance.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
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
  readonly #retired = new Map<Deno.HttpServer<Deno.Addr>, UnderWay>();
  #server: Deno.HttpServer<Deno.Addr> | undefined;
  #underWay = new UnderWay();
  #retry: ReturnType<typeof setTimeout> | undefined;
  #delayMs = FIRST_DELAY_MS;
  #listeningSince = 0;
  #isStopping = false;
  #isShutDown = false;

  /** Listens. */
  constructor(start: StartServer) {
    this.#start = start;
    const { addr } = this.#listen(0);
    this.port = "port" in addr ? addr.port : 0;
  }

  /** Accepts no more connections, and resolves when the requests under way have finished. */
  async stop(): Promise<void> {
    this.#end();
    await Promise.race([this.#shutDown(), this.#gaveUp.promise]);
  }

  /**
   * Closes every connection. Deno cannot close those that a graceful shutdown waits for: they end
   * with the process.
   */
  async cut(): Promise<void> {
    this.#gaveUp.resolve();
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    this.#end();
    this.#shutDownRetired();
    this.#abort.abort();
    await this.#server?.finished;
  }

  #end(): void {
    this.#isStopping = true;
    clearTimeout(this.#retry);
  }

  /** A shutdown interrupts the bodies that are being received: those come first. */
  async #shutDown(): Promise<void> {
    const all = [this.#underWay, ...this.#retired.values()];
    await Promise.all(all.map((underWay) => underWay.received()));
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    await Promise.all([this.#server?.shutdown(), ...this.#shutDownRetired()]);
  }

  #listen(port: number): Deno.HttpServer<Deno.Addr> {
    this.#abort = new AbortController(); // Deno keeps a listener of each server on the signal
    const underWay = this.#underWay = new UnderWay();
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
   * their descriptors.
   */
  async #retire(server: Deno.HttpServer<Deno.Addr>, underWay: UnderWay): Promise<void> {
    this.#retired.set(server, underWay);
    await underWay.idle();
    await server.shutdown().catch(() => {});
    this.#retired.delete(server);
  }

  #shutDownRetired(): readonly Promise<void>[] {
    return [...this.#retired.keys()].map((server) => server.shutdown().catch(() => {}));
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
