/**
 * A server of Deno that keeps listening.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { headerOf } from "../platform/request_header.ts";
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

/** The part of Deno's `ServeHandlerInfo` that is used here. */
export interface Delivery {
  /** Settles when the response has been sent or has failed; reading it creates the promise. */
  readonly completed: Promise<void>;
}

/**
 * Counts the requests without a response, the bodies that can be read until their responses are
 * sent, and the open WebSockets, of one server: its shutdown would close them.
 */
export class UnderWay {
  #count = 0;
  #idle: (() => void) | undefined;
  /** The requests with a body, until their responses are sent. */
  readonly #receiving = new Set<Promise<void>>();
  #isEnding = false;

  /** Counts a request until its response, which is later; returns the response. */
  track(response: Promise<Response>): Promise<Response> {
    this.#count++;
    return response.then((answer) => {
      if (answer.status !== 101) this.end();
      return answer;
    }, (error) => {
      this.end();
      throw error;
    });
  }

  /** Ends the count of a WebSocket, which began with the response to its upgrade. */
  end(): void {
    if (--this.#count === 0) this.#idle?.();
  }

  /** Counts a request that announces a body, until its response is sent. */
  receive(request: Request, delivery: Delivery): void {
    if (hasBody(request)) this.#receive(delivery.completed);
  }

  /** Resolves when all have ended. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle = resolve;
      if (this.#count === 0) resolve();
    });
  }

  /** Returns the requests with a body; later ones are too late. */
  lastReceiving(): Iterable<Promise<void>> {
    this.#isEnding = true;
    return this.#receiving;
  }

  /** Checks whether a request has a body for which the server does not wait any more. */
  isTooLate(request: Request): boolean {
    return this.#isEnding && hasBody(request);
  }

  #receive(completed: Promise<void>): void {
    this.#count++;
    const ended = completed.catch(() => {}).then(() => {
      this.#receiving.delete(ended);
      this.end();
    });
    this.#receiving.add(ended);
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
  readonly #leave: () => void;
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

  /** Listens; `leave` closes its WebSockets when it stops. */
  constructor(start: StartServer, leave: () => void) {
    this.#start = start;
    this.#leave = leave;
    const { addr } = this.#listen(0);
    this.port = "port" in addr ? addr.port : 0;
  }

  /**
   * Resolves when the responses to requests with a body are sent: the shutdown interrupts bodies
   * that are being received, and Deno cannot close the listener without it.
   */
  receive(): Promise<void> | undefined {
    this.#end();
    const all = [this.#underWay, ...this.#retired.values()];
    const receiving = all.flatMap((underWay) => [...underWay.lastReceiving()]);
    if (receiving.length === 0) return undefined;
    const received = Promise.all(receiving).then(() => {});
    return Promise.race([received, this.#gaveUp.promise]);
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
    if (this.#isStopping) return;
    this.#isStopping = true;
    clearTimeout(this.#retry);
    this.#leave();
  }

  async #shutDown(): Promise<void> {
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

/** Checks whether a request announces a body; without a length, one of HTTP/2 does not. */
function hasBody(request: Request): boolean { // neither of a GET nor of a HEAD
  return Number(headerOf(request, "content-length")) > 0 ||
    headerOf(request, "transfer-encoding") !== null;
}
