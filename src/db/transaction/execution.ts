/**
 * A statement under way.
 *
 * @module
 */
import type { Caller } from "../../platform/caller.ts";
import { MAX_DELAY_MS } from "../../platform/time_limit.ts";
import { Interruption, timeoutReason } from "./time_limits.ts";

/** How often to ask whether the client of a request still waits, in milliseconds. */
export const CHECK_MS = 250;

/** Returns why nobody waits for a statement any longer; `undefined` while somebody does. */
export type GoneReason = () => unknown;

/** The work of a handler, and whether anybody waits for it. */
export class Handling {
  readonly #caller: Caller;
  readonly #outer: Handling | undefined;
  #isHandled = false;
  /** How much work for other callers it has begun that has not ended, such as background work. */
  #others = 0;

  /** Prepares the work for a caller, which other work may begin. */
  constructor(caller: Caller, outer: Handling | undefined) {
    this.#caller = caller;
    this.#outer = outer;
  }

  /**
   * Returns why nobody waits for it: its client has disconnected, or was answered before. Work that
   * outlives the handler is for no client. While some of it is for another caller, none of it is
   * given up: which statement belongs to which is unknown.
   */
  readonly goneReason: GoneReason = () => {
    if (this.#isHandled || this.#others > 0) return undefined;
    const { req: { raw: { signal } }, finalized } = this.#caller;
    if (signal?.aborted) return signal.reason;
    return finalized ? new DOMException("It was answered", "TimeoutError") : undefined;
  };

  /** Runs the work, once. */
  run<T>(work: () => T | Promise<T>): T | Promise<T> {
    if (this.#outer) this.#outer.#others += 1;
    const end = () => {
      this.#isHandled = true;
      if (this.#outer) this.#outer.#others -= 1;
    };
    try {
      const result = work();
      if (result instanceof Promise) void result.then(end, end);
      else end();
      return result;
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** The limits of a statement. */
export interface ExecutionOptions {
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly goneReason?: GoneReason | undefined;
}

/** A statement under way. */
export class Execution {
  /** Cancels it at the server; set when it is sent. */
  cancel: (() => void) | undefined;
  /** Why it was interrupted. */
  interruption: Interruption | undefined;
  /** How long its caller has waited for the connection, in milliseconds. */
  waitedMs = 0;
  /** How long it may take, in milliseconds. */
  readonly limitMs: number;
  /** When it began, on the clock of `performance.now()`. */
  readonly beganAtMs: number = performance.now();
  /** When it must end. */
  readonly endsAtMs: number;
  /** Returns why nobody waits for it; absent where that is unknown. */
  readonly goneReason: GoneReason | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #abort: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins a statement. */
  constructor({ limitMs, signal, goneReason }: ExecutionOptions) {
    this.limitMs = limitMs;
    this.goneReason = goneReason;
    this.endsAtMs = this.beganAtMs + limitMs;
    if (!signal) return;
    this.#signal = signal;
    this.#abort = () => this.interrupt(signal.reason);
    signal.addEventListener("abort", this.#abort);
  }

  /** Interrupts the statement at its limit, by a timer of its own. */
  limit(): void {
    const { limitMs } = this;
    if (limitMs > MAX_DELAY_MS) return;
    this.#timer = setTimeout(() => this.interrupt(timeoutReason(limitMs)), limitMs);
  }

  /** Interrupts the statement, for the reason of a signal. */
  interrupt(reason: unknown): void {
    if (this.interruption) return;
    this.interruption = new Interruption(reason);
    this.cancel?.();
  }

  /** Ends the statement. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#abort) this.#signal?.removeEventListener("abort", this.#abort);
  }
}
