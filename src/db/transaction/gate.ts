/**
 * A gate that lets in a number of users at a time.
 *
 * @module
 */
import { dbError } from "../errors.ts";

const ACTION = "take a connection";

/** How many are let in, and how long one waits. */
export interface GateOptions {
  /** How many are inside at most. */
  readonly max: number;
  /** How long one waits to be let in, in milliseconds. */
  readonly timeoutMs: number;
}

interface Waiter {
  readonly letIn: () => void;
  readonly turnAway: (code: "PoolClosed" | "PoolTimeout") => void;
}

/** Lets in `max` at a time, in the order they came. */
export class Gate {
  readonly #options: GateOptions;
  readonly #waiting = new Set<Waiter>();
  #inside = 0;
  #closed: PromiseWithResolvers<void> | undefined;

  /** Opens a gate. */
  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Whether it was closed. */
  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /**
   * Waits to be let in; gives `undefined` if that is so at once. Whoever is let in must leave.
   *
   * @throws {DbError} `PoolTimeout` after the time-out, `PoolClosed` if the gate is or gets closed
   */
  enter(): Promise<void> | undefined {
    if (this.isClosed) throw dbError(ACTION, { code: "PoolClosed" });
    if (this.#inside < this.#options.max) {
      this.#inside += 1;
      return undefined;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (settle: () => void) => {
      clearTimeout(timer);
      this.#waiting.delete(waiter);
      settle();
    };
    const waiter: Waiter = {
      letIn: () => end(resolve),
      turnAway: (code) => end(() => reject(dbError(ACTION, { code }))),
    };
    const timer = setTimeout(() => waiter.turnAway("PoolTimeout"), this.#options.timeoutMs);
    this.#waiting.add(waiter);
    return promise;
  }

  /** Leaves, and lets the next one in. */
  leave(): void {
    const [next] = this.#waiting;
    if (next) return next.letIn();
    this.#inside -= 1;
    if (this.#inside === 0) this.#closed?.resolve();
  }

  /** Lets nobody in any more, and waits until all have left. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    for (const waiter of this.#waiting) waiter.turnAway("PoolClosed");
    if (this.#inside === 0) this.#closed.resolve();
    return this.#closed.promise;
  }
}
