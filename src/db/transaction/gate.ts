/**
 * A limit of concurrent users, with a queue.
 *
 * @module
 */
import { CHECK_MS, type GoneReason } from "./execution.ts";
import { Interruption } from "./time_limits.ts";
import { dbError } from "../errors.ts";

const ACTION = "take a connection";

/** The limits of a gate. */
export interface GateOptions {
  /** The maximum number of users inside. */
  readonly max: number;
  /** How long a user waits to enter, in milliseconds. */
  readonly timeoutMs: number;
  /** Returns how to ask whether the client of a user still waits; by default all do. */
  readonly goneReason?: () => GoneReason | undefined;
}

interface Waiter {
  readonly goneReason: GoneReason | undefined;
  readonly letIn: () => void;
  readonly turnAway: (error: Error) => void;
}

/** Admits at most `max` users at a time, in order of arrival. */
export class Gate {
  readonly #options: GateOptions;
  readonly #waiting = new Set<Waiter>();
  #inside = 0;
  #sweeping: ReturnType<typeof setInterval> | undefined;
  #closed: PromiseWithResolvers<void> | undefined;

  /** Opens a gate. */
  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Whether it is closed. */
  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** The number of users inside. */
  get inside(): number {
    return this.#inside;
  }

  /** The number of users that wait to enter. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether a user has to wait to enter. */
  get isFull(): boolean {
    return this.#inside >= this.#options.max;
  }

  /**
   * Enters, and returns `undefined` if there is no wait; otherwise resolves to how long it took, in
   * milliseconds. A user that has entered must leave.
   *
   * @throws {DbError} `PoolTimeout` after the time-out, `PoolClosed` if the gate is
   * closed meanwhile
   * @throws {Interruption} if the signal is aborted or the client of the user leaves meanwhile
   */
  enter(signal?: AbortSignal): Promise<number> | undefined {
    if (this.isClosed) throw dbError(ACTION, { code: "PoolClosed" });
    if (signal?.aborted) throw new Interruption(signal.reason);
    if (!this.isFull) {
      this.#inside += 1;
      return undefined;
    }
    const sinceMs = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      this.#waiting.delete(waiter);
      if (this.#waiting.size === 0) this.#stopSweeping();
      settle();
    };
    const waiter: Waiter = {
      goneReason: this.#options.goneReason?.(),
      letIn: () => end(() => resolve(performance.now() - sinceMs)),
      turnAway: (error) => end(() => reject(error)),
    };
    const timer = setTimeout(
      () => waiter.turnAway(dbError(ACTION, { code: "PoolTimeout" })),
      this.#options.timeoutMs,
    );
    const abort = () => waiter.turnAway(new Interruption(signal?.reason));
    signal?.addEventListener("abort", abort);
    this.#waiting.add(waiter);
    this.#sweeping ??= setInterval(() => this.#sweep(), CHECK_MS);
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
    for (const waiter of this.#waiting) waiter.turnAway(dbError(ACTION, { code: "PoolClosed" }));
    if (this.#inside === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  /** Turns away the users whose clients have left: those that wait do not wait for them. */
  #sweep(): void {
    for (const { goneReason, turnAway } of this.#waiting) {
      const reason = goneReason?.();
      if (reason !== undefined) turnAway(new Interruption(reason));
    }
  }

  #stopSweeping(): void {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  }
}
