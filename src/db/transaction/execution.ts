/**
 * A statement under way.
 *
 * @module
 */
import type { Caller } from "../../platform/caller.ts";
import { Interruption } from "./time_limits.ts";

/** How often to ask whether the client of a request still waits, in milliseconds. */
export const CHECK_MS = 250;

/** Returns why nobody waits for a statement any longer; `undefined` while somebody does. */
export type GoneReason = () => unknown;

/**
 * Runs the work of a handler. Its client is gone when it has disconnected, or was answered before;
 * work that outlives the handler is for no client.
 */
export async function untilHandled<T>(
  caller: Caller,
  work: (goneReason: GoneReason) => T | Promise<T>,
): Promise<T> {
  let isHandled = false;
  try {
    return await work(() => {
      if (isHandled) return undefined;
      const { signal } = caller.req.raw;
      if (signal?.aborted) return signal.reason;
      return caller.finalized ? new DOMException("It was answered", "TimeoutError") : undefined;
    });
  } finally {
    isHandled = true;
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
  #interruption: Interruption | undefined;

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

  /** Interrupts the statement, for the reason of a signal. */
  interrupt(reason: unknown): void {
    if (this.#interruption) return;
    this.#interruption = new Interruption(reason);
    this.cancel?.();
  }

  /** Returns why the statement failed: the interruption, or its own error. */
  failure(error: unknown): unknown {
    return this.#interruption ?? error;
  }

  /** Ends the statement. */
  end(): void {
    if (this.#abort) this.#signal?.removeEventListener("abort", this.#abort);
  }
}
