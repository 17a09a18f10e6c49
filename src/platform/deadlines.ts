/**
 * Limits in time that share one timer: most bodies arrive sooner than one is set and cleared.
 *
 * @module
 */
import { MAX_DELAY_MS } from "./time_limit.ts";
import { outlivesRequests } from "./wait_until.ts";

/** A limit in time that was started. */
export interface Deadline {
  /** The time in milliseconds. */
  readonly limitMs: number;
  /** Called when the time is over. */
  readonly expire: () => void;
  /** Its own timer, on edge runtimes: there, a timer belongs to a request. */
  readonly timer?: ReturnType<typeof setTimeout>;
}

/**
 * Limits in time, most of which end long before they are reached. They are measured from the end of
 * the turn of the event loop in which they start: work that ends before needs no timer.
 */
export class Deadlines {
  /** Those that have started in this turn. */
  readonly #started = new Set<Deadline>();
  /** The others, and when they are reached, by `performance.now()`. */
  readonly #running = new Map<Deadline, number>();
  readonly #areShared = outlivesRequests();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #firesAtMs = Infinity;
  #isTurning = false;

  /** Calls `expire` after `limitMs` milliseconds, unless the deadline ends before. */
  start(limitMs: number, expire: () => void): Deadline {
    if (!this.#areShared) {
      return { limitMs, expire, timer: setTimeout(expire, Math.min(limitMs, MAX_DELAY_MS)) };
    }
    const deadline = { limitMs, expire };
    this.#started.add(deadline);
    if (!this.#isTurning) {
      this.#isTurning = true;
      setImmediate(() => this.#run());
    }
    return deadline;
  }

  /** Ends a deadline; this has no effect on one that was reached. */
  end(deadline: Deadline): void {
    if (this.#started.delete(deadline)) return;
    if (this.#running.delete(deadline) && this.#running.size === 0) this.#stop();
    clearTimeout(deadline.timer);
  }

  /** Begins to measure those that have started. */
  #run(): void {
    this.#isTurning = false;
    if (this.#started.size === 0) return;
    const nowMs = performance.now();
    for (const deadline of this.#started) {
      const endsAtMs = nowMs + deadline.limitMs;
      this.#running.set(deadline, endsAtMs);
      if (endsAtMs < this.#firesAtMs) this.#fireAt(endsAtMs, nowMs);
    }
    this.#started.clear();
  }

  /** Expires those that are reached. */
  #sweep(): void {
    this.#firesAtMs = Infinity;
    const nowMs = performance.now();
    let nextMs = Infinity;
    for (const [deadline, endsAtMs] of this.#running) {
      if (endsAtMs > nowMs) {
        nextMs = Math.min(nextMs, endsAtMs);
      } else {
        this.#running.delete(deadline);
        deadline.expire();
      }
    }
    if (this.#running.size > 0) this.#fireAt(nextMs, nowMs);
  }

  #fireAt(atMs: number, nowMs: number): void {
    clearTimeout(this.#timer);
    this.#firesAtMs = atMs;
    if (atMs === Infinity) return;
    const delayMs = Math.max(0, Math.ceil(atMs - nowMs));
    this.#timer = setTimeout(() => this.#sweep(), Math.min(delayMs, MAX_DELAY_MS));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#firesAtMs = Infinity;
  }
}
