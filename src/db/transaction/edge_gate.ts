/**
 * A limit of concurrent users on an edge runtime.
 *
 * @module
 */
import { dbError } from "../errors.ts";
import { ACTION, type Admission, type GateOptions } from "./gate.ts";
import { Interruption } from "./time_limits.ts";

/** How often a user that waits checks whether it may enter, in milliseconds. */
const POLL_MS = 5;

/** Options of an {@linkcode EdgeGate}. */
export interface EdgeGateOptions extends GateOptions {
  /** How long a statement may take, in milliseconds; `Infinity` is no limit. */
  readonly statementTimeoutMs: number;
  /** How long a transaction may take, in milliseconds; `Infinity` is no limit. */
  readonly transactionTimeoutMs: number;
}

/**
 * Admits at most `max` users at a time, in no order. Cloudflare Workers end a request that waits
 * for another one alone, and run nothing of one that has ended, which neither enters nor leaves: so
 * each user that waits has a timer of its own, and one that does not leave is removed after a
 * while.
 */
export class EdgeGate implements Admission {
  readonly #options: GateOptions;
  /** How long a user stays at most, in milliseconds; after that, its request must have ended. */
  readonly #staysMs: number;
  /** When each user inside has entered, on the clock of `performance.now()`; the first is first. */
  readonly #enteredMs = new Map<object, number>();
  #waiting = 0;
  #isClosed = false;

  /** Opens a gate. */
  constructor(options: EdgeGateOptions) {
    const { max, statementTimeoutMs, transactionTimeoutMs } = this.#options = options;
    // of several connections, one more is used where a transaction takes longer
    this.#staysMs = Math.max(statementTimeoutMs, max === 1 ? transactionTimeoutMs : 0);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get inside(): number {
    const earliestMs = performance.now() - this.#staysMs;
    for (const [user, enteredMs] of this.#enteredMs) {
      if (enteredMs >= earliestMs) break;
      this.#enteredMs.delete(user);
    }
    return this.#enteredMs.size;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get isFull(): boolean {
    return this.inside >= this.#options.max;
  }

  enter(signal: AbortSignal | undefined, user: object): Promise<number> | undefined {
    return this.#admit(signal, user) ? undefined : this.#wait(signal, user);
  }

  leave(user: object): void {
    this.#enteredMs.delete(user);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.inside > 0) await nextPoll();
  }

  async #wait(signal: AbortSignal | undefined, user: object): Promise<number> {
    const { timeoutMs, goneReason } = this.#options;
    const gone = goneReason?.();
    const sinceMs = performance.now();
    this.#waiting += 1;
    try {
      for (;;) {
        await nextPoll();
        const waitedMs = performance.now() - sinceMs;
        const reason = gone?.();
        if (reason !== undefined) throw new Interruption(reason);
        if (this.#admit(signal, user)) return waitedMs;
        if (waitedMs >= timeoutMs) throw dbError(ACTION, { code: "PoolTimeout" });
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  #admit(signal: AbortSignal | undefined, user: object): boolean {
    if (this.#isClosed) throw dbError(ACTION, { code: "PoolClosed" });
    if (signal?.aborted) throw new Interruption(signal.reason);
    if (this.isFull) return false;
    this.#enteredMs.set(user, performance.now());
    return true;
  }
}

function nextPoll(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
