/**
 * The servers of an application.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { Kernel } from "../core/module/boot.ts";
import type {
  OnWorkersStart,
  OnWorkersStop,
  WorkersStart,
  WorkersStop,
} from "../core/module/lifecycle.ts";
import { within } from "../platform/time_limit.ts";
import type { UnixAddress } from "../runtime/adapter.ts";
import type { Background } from "../runtime/background.ts";
import type { DrainOptions, HttpServer } from "../runtime/http_server.ts";
import { batchLines, logToConsole } from "../runtime/log/console_log.ts";
import { type ListenOptions, serve } from "../runtime/listen.ts";
import type { Answering } from "./answering.ts";

/** Options of `app.close()`. */
export interface CloseOptions extends DrainOptions {
  /** The signal that the application closes for, which is passed to the stop hooks. */
  readonly signal?: string | undefined;
}

/** The parts of an application that {@linkcode Serving} starts and stops. */
export interface ServingParts {
  /** Answers the requests. */
  readonly answering: Answering;
  /** The work that requests leave for after their responses. */
  readonly background: Background;
  /** The modules, whose stop hooks run last. */
  readonly kernel: Kernel;
}

/** Opens the servers of an application, and closes them together. The first loads the adapter. */
export class Serving {
  readonly #parts: ServingParts;
  readonly #servers = new Set<HttpServer>();
  #closed: Promise<void> | undefined;
  /** The starts of the workers: while serving, and without. */
  readonly #working = new Map<boolean, Promise<void>>();
  /** Whether the process ends when the application is closed. */
  #endsProcess = false;
  /** Whether a worker has started, even if another one has failed. */
  #hasWorker = false;
  /** How many calls of `listenGraceful` and `startWorkers` are under way. */
  #pendingCalls = 0;
  #releaseSignals: (() => void) | undefined;
  #releaseLog: (() => void) | undefined;

  /** Prepares to serve. */
  constructor(parts: ServingParts) {
    this.#parts = parts;
  }

  /**
   * Opens a server, and the log before it. The promise never settles if the process is stopping.
   */
  async listen(address: number | UnixAddress, options: ListenOptions = {}): Promise<HttpServer> {
    return await this.#unlessStopping("Listening", () => this.#open(address, options));
  }

  /**
   * Opens a server; on SIGINT and SIGTERM, closes all of them and ends the process. The promise
   * never settles if the process is stopping.
   */
  async listenGraceful(
    address: number | UnixAddress,
    { drainMs, lameDuckMs, ...options }: ListenOptions & DrainOptions = {},
  ): Promise<HttpServer> {
    return await this.#gracefully({ drainMs, lameDuckMs }, () => this.listen(address, options));
  }

  /**
   * Starts the workers without a server; on SIGINT and SIGTERM, stops them and ends the process.
   */
  async startWorkers({ drainMs, lameDuckMs = 0 }: DrainOptions = {}): Promise<void> {
    const { answering } = this.#parts;
    if (!this.#endsProcess) this.#checkOpen("start workers");
    await this.#gracefully(
      { drainMs, lameDuckMs },
      () =>
        this.#unlessStopping("Starting workers", async () => {
          await answering.router(); // runs start hooks too
          await answering.openLog();
          this.#checkOpen("start workers");
          await this.#work({ isServing: false });
          getLogger(["fw", "runtime"]).info("Workers have started");
        }),
    );
  }

  /** Drains every server, then stops the modules. Later calls wait for the first. */
  close(options: CloseOptions = {}): Promise<void> {
    this.#parts.answering.drain();
    return this.#closed ??= this.#close(options);
  }

  /** Starts what signals stop; if it fails and nothing runs, they end the process at once again. */
  async #gracefully<T>(drain: DrainOptions, start: () => Promise<T>): Promise<T> {
    this.#pendingCalls++;
    try {
      await this.#closeOnSignals(drain); // a signal may come as soon as it listens
      return await start();
    } catch (error) {
      if (this.#pendingCalls === 1 && !this.#isRunning()) this.#removeSignalListeners();
      throw error;
    } finally {
      this.#pendingCalls--;
    }
  }

  /** Checks whether a server or a worker has started. */
  #isRunning(): boolean {
    return this.#servers.size > 0 || this.#working.size > 0 || this.#hasWorker;
  }

  async #open(address: number | UnixAddress, options: ListenOptions): Promise<HttpServer> {
    const { answering } = this.#parts;
    // throws ClosedError, which `listen` ignores during a stop; otherwise the router throws
    if (this.#endsProcess) this.#checkOpen();
    await answering.router();
    await answering.openLog();
    this.#checkOpen();
    const where = typeof address === "object" ? { path: address?.path } : { port: address };
    const server = await serve(answering.answer, { ...options, ...where });
    if (this.#closed) await server.close();
    this.#checkOpen();
    this.#servers.add(server);
    try {
      await this.#work({ isServing: true });
    } catch (error) {
      this.#servers.delete(server);
      await server.close();
      throw error;
    }
    getLogger(["fw", "runtime"]).info("Listening on {url}", { url: server.url });
    this.#releaseLog ??= batchLines();
    return server;
  }

  /** Does work at a start; while the process stops, it does not fail but never ends. */
  async #unlessStopping<T>(action: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!this.#endsProcess) throw error;
      // a rejection at the top level would end the process before its stop hooks have run
      if (!(error instanceof ClosedError)) {
        logToConsole(); // synchronously: the process may exit before LogTape is loaded
        getLogger(["fw", "runtime"]).error(`${action} failed: {error}`, { error });
      }
      return await new Promise(() => {});
    }
  }

  #checkOpen(action = "listen"): void {
    if (this.#closed) throw new ClosedError(`Cannot ${action}: the application is closed`);
  }

  /** Starts the workers, once while serving and once without. */
  #work(start: WorkersStart): Promise<void> {
    const { isServing } = start;
    const working = this.#working.get(isServing) ?? this.#startWork(start);
    this.#working.set(isServing, working);
    working.catch(() => this.#working.delete(isServing)); // the next call starts them again
    return working;
  }

  async #startWork(start: WorkersStart): Promise<void> {
    for (const instance of this.#parts.kernel.instances() as readonly Partial<OnWorkersStart>[]) {
      if (!instance.onWorkersStart) continue;
      await instance.onWorkersStart(start);
      this.#hasWorker = true;
    }
  }

  /** Stops the workers, all within the same time. */
  async #endWork(stop: WorkersStop): Promise<void> {
    await Promise.all(
      this.#parts.kernel.instances().map(async (instance) => {
        try {
          await (instance as Partial<OnWorkersStop>).onWorkersStop?.(stop);
        } catch (error) {
          getLogger(["fw", "runtime"]).error("Stopping workers failed: {error}", { error });
        }
      }),
    );
  }

  async #closeOnSignals({ drainMs, lameDuckMs }: DrainOptions): Promise<void> {
    const { stopGracefully } = await import("../runtime/graceful.ts");
    this.#releaseSignals ??= stopGracefully({
      drainMs,
      lameDuckMs,
      onStop: (signal, drain) => {
        this.#endsProcess = true;
        return this.close({ signal, ...drain });
      },
    });
  }

  #removeSignalListeners(): void {
    this.#releaseSignals?.();
    this.#releaseSignals = undefined;
  }

  async #close({ signal, drainMs = 30_000, lameDuckMs = 0 }: CloseOptions): Promise<void> {
    const { answering, background, kernel } = this.#parts;
    const endMs = performance.now() + lameDuckMs + drainMs;
    const leftMs = (atLeast: number) => Math.max(atLeast, endMs - performance.now());
    try {
      const drain = { drainMs, lameDuckMs };
      // a process that no signal stops has failed
      await Promise.all([
        ...Array.from(this.#servers, (server) => server.close(drain)),
        this.#endWork({ drainMs: leftMs(0), hasFailed: this.#endsProcess && !signal }),
      ]);
      await background.end(leftMs(0));
      // an assembly under way may have started instances, which have to stop too
      if (!await within(answering.settled(), leftMs(1000))) {
        getLogger(["fw", "runtime"]).warn("A start hook has not finished before the stop");
      }
      await kernel.stop(signal);
    } finally {
      this.#removeSignalListeners();
      this.#releaseLog?.();
    }
  }
}

/** Thrown by `#checkOpen()`, to distinguish a stop from a failure to listen. */
class ClosedError extends TypeError {}
