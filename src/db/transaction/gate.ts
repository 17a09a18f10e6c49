/**
 * A limit of concurrent users, with a queue.
 *
 * @module
 */
import { dbError } from "../errors.ts";

const ACTION = "take a connection";

/** The limits of a gate. */
export interface GateOptions {
  /** The maximum number of users inside. */
  readonly max: number;
  /** How long a user waits to enter, in milliseconds. */
  readonly timeoutMs: number;
}

interface Waiter {
  readonly letIn: () => void;
  readonly turnAway: (code: "PoolClosed" | "PoolTimeout") => void;
}

/** Admits at most `max` users at a time, in order of arrival. */
export class Gate {
  readonly #options: GateOptions;
  readonly #waiting = new Set<Waiter>();
  #inside = 0;
  #closed: PromiseWithResolvers<void> | undefined;

  /** Opens a gate. */
  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Whether it is closed. */
  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /**
   * Enters, and returns `undefined` if there is no wait. A user that has entered must leave.
   *
   * @throws {DbError} `PoolTimeout` after the time-out, `PoolClosed` if the gate is
   * closed meanwhile
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

  /** Leaves, and admits the next user. */
  leave(): void {
    const [next] = this.#waiting;
    if (next) return next.letIn();
    this.#inside -= 1;
    if (this.#inside === 0) this.#closed?.resolve();
  }

  /** Admits no more users, and waits until all have left. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    for (const waiter of this.#waiting) waiter.turnAway("PoolClosed");
    if (this.#inside === 0) this.#closed.resolve();
    return this.#closed.promise;
  }
}
