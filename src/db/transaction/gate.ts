/**
 * A limit of concurrent users, with a queue.
 *
 * @module
 */
import { CHECK_MS, type GoneReason } from "./execution.ts";
import { Interruption } from "./time_limits.ts";
import { dbError } from "../errors.ts";

/** What fails for a user that is not admitted. */
export const ACTION = "take a connection";
/**
 * A wait ends up to 5 ms, and at most a tenth of it, before its limit: so that it ends together
 * with an attempt to connect that began at the same time.
 */
const EARLY_MS = 5;

/** The limits of a gate. */
export interface GateOptions {
  /** The maximum number of users inside. */
  readonly max: number;
  /** How long a user waits to enter, in milliseconds. */
  readonly timeoutMs: number;
  /** Returns how to ask whether the client of a user still waits; by default all do. */
  readonly goneReason?: () => GoneReason | undefined;
}

/** A limit of concurrent users. */
export interface Admission {
  /** Whether it is closed. */
  readonly isClosed: boolean;
  /** The number of users inside. */
  readonly inside: number;
  /** The number of users that wait to enter. */
  readonly waiting: number;
  /** Whether a user has to wait to enter. */
  readonly isFull: boolean;
  /**
   * Enters, and returns `undefined` if there is no wait; otherwise resolves to how long it took, in
   * milliseconds. A user, which is any object of its own, must leave after it has entered.
   *
   * @throws {DbError} `PoolTimeout` after the time-out, `PoolClosed` if the gate is
   * closed meanwhile
   * @throws {Interruption} if the signal is aborted or the client of the user leaves meanwhile
   */
  enter(signal: AbortSignal | undefined, user: object): Promise<number> | undefined;
  /** Leaves, and admits the next user. */
  leave(user: object): void;
  /** Admits no more users, and waits until all have left. */
  close(): Promise<void>;
}

/** A user that waits to enter. */
class Waiter {
  readonly entering: PromiseWithResolvers<number> = Promise.withResolvers<number>();
  readonly sinceMs: number = performance.now();
  readonly goneReason: GoneReason | undefined;
  readonly signal: AbortSignal | undefined;
  abort: (() => void) | undefined;

  constructor(goneReason: GoneReason | undefined, signal: AbortSignal | undefined) {
    this.goneReason = goneReason;
    this.signal = signal;
  }
}

/** Admits at most `max` users at a time, in order of arrival. */
export class Gate implements Admission {
  readonly #options: GateOptions;
  /** After which wait a user is turned away, in milliseconds. */
  readonly #longestMs: number;
  readonly #waiting = new Set<Waiter>();
  #inside = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed: PromiseWithResolvers<void> | undefined;

  /** Opens a gate. */
  constructor(options: GateOptions) {
    const { timeoutMs } = this.#options = options;
    this.#longestMs = timeoutMs - Math.min(EARLY_MS, timeoutMs / 10);
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  get inside(): number {
    return this.#inside;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get isFull(): boolean {
    return this.#inside >= this.#options.max;
  }

  enter(signal?: AbortSignal): Promise<number> | undefined {
    if (this.isClosed) throw dbError(ACTION, { code: "PoolClosed" });
    if (signal?.aborted) throw new Interruption(signal.reason);
    if (!this.isFull) {
      this.#inside += 1;
      return undefined;
    }
    const waiter = new Waiter(this.#options.goneReason?.(), signal);
    if (signal) {
      waiter.abort = () => this.#turnAway(waiter, new Interruption(signal.reason));
      signal.addEventListener("abort", waiter.abort);
    }
    this.#waiting.add(waiter);
    if (this.#waiting.size === 1) this.#watch(waiter);
    return waiter.entering.promise;
  }

  leave(): void {
    const nowMs = performance.now();
    for (const next of this.#waiting) {
      if (this.#turnAwayLate(next, nowMs)) continue;
      this.#end(next);
      return next.entering.resolve(nowMs - next.sinceMs);
    }
    this.#inside -= 1;
    if (this.#inside === 0) this.#closed?.resolve();
  }

  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers<void>();
    for (const waiter of this.#waiting) {
      this.#turnAway(waiter, dbError(ACTION, { code: "PoolClosed" }));
    }
    if (this.#inside === 0) this.#closed.resolve();
    return this.#closed.promise;
  }

  /** Turns away a user who has waited too long; returns whether that is so. */
  #turnAwayLate(waiter: Waiter, nowMs: number): boolean {
    const isLate = nowMs - waiter.sinceMs >= this.#longestMs;
    if (isLate) this.#turnAway(waiter, dbError(ACTION, { code: "PoolTimeout" }));
    return isLate;
  }

  #turnAway(waiter: Waiter, error: Error): void {
    this.#end(waiter);
    waiter.entering.reject(error);
  }

  #end(waiter: Waiter): void {
    const { signal, abort } = waiter;
    if (abort) signal?.removeEventListener("abort", abort);
    this.#waiting.delete(waiter);
    if (this.#waiting.size === 0) clearTimeout(this.#timer);
  }

  /** Looks at the queue when the wait of the first user ends, and meanwhile from time to time. */
  #watch({ sinceMs }: Waiter): void {
    const leftMs = sinceMs + this.#options.timeoutMs - performance.now();
    this.#timer = setTimeout(() => this.#sweep(), Math.ceil(Math.min(CHECK_MS, leftMs)));
  }

  /** Turns away users that have waited too long, and those whose clients have left. */
  #sweep(): void {
    const nowMs = performance.now();
    for (const waiter of this.#waiting) {
      if (this.#turnAwayLate(waiter, nowMs)) continue;
      const reason = waiter.goneReason?.();
      if (reason !== undefined) this.#turnAway(waiter, new Interruption(reason));
    }
    const [first] = this.#waiting;
    if (first) this.#watch(first);
  }
}
