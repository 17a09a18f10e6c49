/**
 * Statements under way, and their end when they have reached a limit in time.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ControlConnectionProvider, DatabaseConnection } from "kysely";
import { trackCallers } from "../../platform/caller.ts";
import { within } from "../../platform/time_limit.ts";
import {
  CHECK_MS,
  Execution,
  type ExecutionOptions,
  type GoneReason,
  Handling,
} from "./execution.ts";
import { currentHandling, isInsideCall, runHandling } from "./call_context.ts";
import type { LoopTurns } from "./loop_turns.ts";
import { Interruption, type LimitScope, timeoutReason, unlessAborted } from "./time_limits.ts";

/** How long a server may take to cancel a statement, in milliseconds. */
export const CANCEL_MS = 2000;

/** How statements are watched. */
export interface StatementWatchOptions {
  /** The limit of each statement in milliseconds; `Infinity` is no limit. */
  readonly timeoutMs: number;
  /** Returns the limits of the caller. */
  readonly scope: () => LimitScope;
  /** Whether connections can cancel their statement, and close, while it runs. */
  readonly cancels: boolean;
  /** Whether it is on an edge runtime, where timers end with the request that has set them. */
  readonly isOnEdge: boolean;
  /** The turns of the event loop, where statements run inside the process. */
  readonly turns?: LoopTurns | undefined;
}

/** Ends statements that take too long. Many share one timer. */
export class StatementWatch {
  readonly #options: StatementWatchOptions;
  readonly #running = new Set<Execution>();
  readonly #ending = new WeakMap<DatabaseConnection, Promise<void>>();
  readonly #unsettled = new WeakMap<DatabaseConnection, Promise<void>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firesAtMs = Infinity;
  #isClosed = false;

  /** Creates a watch. */
  constructor(options: StatementWatchOptions) {
    this.#options = options;
    trackCallers({
      track(caller, work) {
        const handling = new Handling(caller, currentHandling());
        return handling.run(() => runHandling(handling, work));
      },
      isInside: isInsideCall,
      runOutside: AsyncLocalStorage.snapshot(),
    });
  }

  /**
   * Begins a statement of the caller; it must be ended.
   *
   * @throws {Interruption} if a limit of the caller is reached already
   */
  begin({ signal, isUnlimited }: LimitScope = this.#options.scope()): Execution {
    if (signal?.aborted) throw new Interruption(signal.reason);
    return this.#begin({
      limitMs: isUnlimited ? Infinity : this.#options.timeoutMs,
      signal,
      goneReason: this.goneReason,
    });
  }

  /** How to ask whether the client of the caller still waits, if that is known. */
  get goneReason(): GoneReason | undefined {
    return currentHandling()?.goneReason;
  }

  /** Runs statements on behalf of several callers: none of them interrupts them. */
  shared<T>(work: () => Promise<T>): Promise<T> {
    return runHandling(undefined, work);
  }

  /**
   * Waits for what comes before a statement of the caller.
   *
   * @throws {Interruption} if a limit of the caller is reached meanwhile
   */
  wait(promise: Promise<void>): Promise<void> {
    return unlessAborted(promise, this.#options.scope().signal);
  }

  /** Returns the turn of the event loop that a statement of the caller must wait for, if any. */
  turn(): Promise<void> | undefined {
    return this.#options.turns?.next();
  }

  /** Ends a statement. */
  end(execution: Execution): void {
    this.#running.delete(execution);
    execution.end();
  }

  /**
   * Runs a statement on a connection. One that is interrupted is cancelled, and its connection is
   * closed, where the driver can do that; otherwise nobody waits for it any longer. The server may
   * end it all the same: then it succeeds, although its `execution` has an interruption.
   *
   * @throws {Interruption} if it took too long or was aborted
   */
  run<T>(
    connection: DatabaseConnection,
    send: () => Promise<T>,
    execution?: Execution,
  ): Promise<T> {
    const run = () => this.#run(connection, send, execution ?? this.begin());
    return this.turn()?.then(run) ?? run();
  }

  /**
   * Runs the end of a transaction, which the limits of the caller do not interrupt: the outcome of
   * a commit that is cancelled is unknown.
   *
   * @throws {Interruption} if it took too long
   */
  finish(
    connection: DatabaseConnection,
    send: () => Promise<void>,
    limitMs: number = this.#options.timeoutMs,
  ): Promise<void> {
    const { isUnlimited } = this.#options.scope();
    return this.#run(connection, send, this.#begin({ limitMs: isUnlimited ? Infinity : limitMs }));
  }

  async #run<T>(
    connection: DatabaseConnection,
    send: () => Promise<T>,
    execution: Execution,
  ): Promise<T> {
    try {
      const sent = send();
      const { promise, reject } = Promise.withResolvers<never>();
      execution.cancel = () => {
        const ending = this.#giveUp(connection, sent).finally(() => reject(new Error("no answer")));
        this.#ending.set(connection, ending);
      };
      return await Promise.race([sent, promise]);
    } catch (error) {
      throw execution.interruption ?? error;
    } finally {
      this.end(execution);
      await this.#ending.get(connection);
    }
  }

  /** Yields the chunks of a statement's rows; the limit is that of each chunk. */
  async *stream<T>(
    connection: DatabaseConnection,
    chunks: AsyncIterableIterator<T>,
  ): AsyncIterableIterator<T> {
    try {
      for (;;) {
        const { done, value } = await this.run(connection, () => chunks.next());
        if (done) return;
        yield value;
      }
    } finally {
      await within(Promise.resolve(chunks.return?.()).catch(ignore), CANCEL_MS);
    }
  }

  /** Returns the end of the attempt to cancel the statement of a connection. */
  ending(connection: DatabaseConnection): Promise<void> | undefined {
    return this.#ending.get(connection);
  }

  /**
   * Clears the state of a connection that its caller releases. Returns the end of the statement
   * that was given up on it, if the connection is still open: it must be rolled back after that.
   */
  takeUnsettled(connection: DatabaseConnection): Promise<void> | undefined {
    const unsettled = this.#unsettled.get(connection);
    this.#ending.delete(connection);
    this.#unsettled.delete(connection);
    return unsettled;
  }

  /** Forgets all statements; those that come later have no limit. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#firesAtMs = Infinity;
    this.#running.clear();
  }

  #begin(options: ExecutionOptions): Execution {
    const execution = new Execution(options);
    if (this.#options.isOnEdge) {
      // the common timer would end with the request that has set it
      execution.limit();
      return execution;
    }
    this.#running.add(execution);
    const { goneReason, endsAtMs, beganAtMs } = execution;
    const nextMs = goneReason ? Math.min(endsAtMs, beganAtMs + CHECK_MS) : endsAtMs;
    if (nextMs < this.#firesAtMs && !this.#isClosed) this.#arm(nextMs);
    return execution;
  }

  /** Cancels a statement, and then closes its connection: a late request would hit the next. */
  async #giveUp(connection: DatabaseConnection, sent: Promise<unknown>): Promise<void> {
    const settled = sent.then(ignore, ignore);
    const cancelled = cancel(connection); // on SQLite it can only end a wait
    if (this.#options.cancels) {
      await within(Promise.all([cancelled, settled]), CANCEL_MS);
      await within(Promise.resolve(connection.killSession?.(noControl).catch(ignore)), CANCEL_MS);
    }
    this.#unsettled.set(connection, settled);
    // a cancelled connection is closed: there is nothing to roll back
    if (this.#options.cancels) void settled.then(() => this.#unsettled.delete(connection));
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    this.#firesAtMs = atMs;
    this.#timer = setTimeout(() => this.#sweep(), Math.max(0, Math.ceil(atMs - performance.now())));
  }

  #sweep(): void {
    this.#firesAtMs = Infinity;
    const nowMs = performance.now();
    let nextMs = Infinity;
    for (const execution of this.#running) {
      const { endsAtMs, limitMs, goneReason } = execution;
      const reason = endsAtMs <= nowMs ? timeoutReason(limitMs) : goneReason?.();
      if (reason !== undefined) execution.interrupt(reason);
      else nextMs = Math.min(nextMs, endsAtMs, goneReason ? nowMs + CHECK_MS : Infinity);
    }
    if (nextMs < Infinity) this.#arm(nextMs);
  }
}

/** The drivers of the dialects that cancel open a connection of their own for it. */
const noControl: ControlConnectionProvider = () => Promise.reject(new Error("none is needed"));

async function cancel(connection: DatabaseConnection): Promise<void> {
  try {
    await connection.collectSessionInfo?.();
    await connection.cancelQuery?.(noControl);
  } catch {
    // the connection is given up, whether the server has heard of it or not
  }
}

function ignore(): void {}
