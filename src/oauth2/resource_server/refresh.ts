/**
 * Fetches of a key set: shared by those who need the keys, and spaced.
 *
 * @module
 */
import { within } from "../../platform/time_limit.ts";
import { outlivesRequests } from "../../platform/wait_until.ts";

/** When a {@linkcode Refresh} begins, and when it is over. */
export interface RefreshOptions {
  /** How long it waits for its turn, in milliseconds. */
  readonly waitMs: number;
  /** How long its fetch may take, in milliseconds. */
  readonly timeoutMs: number;
  /** The time in milliseconds since 1970. */
  readonly now: () => number;
}

/** How much later than promised a fetch may end on a busy machine before it is given up. */
const GRACE_MS = 1_000;

/**
 * A fetch that is under way, or about to be. An edge runtime drops it with the request that began it,
 * unless it was asked to wait; then it never settles.
 */
export class Refresh {
  /** Settles as the fetch does, if it does. */
  readonly done: Promise<void>;
  readonly #now: () => number;
  readonly #overdueAtMs: number;
  /** Whether it settles in any case, so that neither a timer nor the clock is needed. */
  readonly #settles = outlivesRequests();
  #isSent = false;

  /** Begins one: waits, then fetches. */
  constructor(fetch: () => Promise<void>, { waitMs, timeoutMs, now }: RefreshOptions) {
    const run = async (): Promise<void> => {
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      this.#isSent = true;
      await fetch();
    };
    this.#now = now;
    this.#overdueAtMs = now() + waitMs + timeoutMs + GRACE_MS;
    this.done = Promise.resolve().then(run);
  }

  /** Whether its request has been sent: what it brings may be older than what comes after. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** Whether it should be over by now, and may never be. */
  get isOverdue(): boolean {
    return !this.#settles && this.#now() >= this.#overdueAtMs;
  }

  /** Waits for it, or until it should be over; tells whether it is. Rejects as the fetch does. */
  ended(): Promise<boolean> {
    if (this.#settles) return this.done.then(() => true);
    return within(this.done, this.#overdueAtMs - this.#now());
  }
}

/** Spaces what is done at least so far apart, after a burst that may be done at once. */
export class Pace {
  readonly #intervalMs: number;
  readonly #burst: number;
  #nextMs = -Infinity;
  #lastMs = -Infinity;

  /** Starts with the whole burst free. */
  constructor({ intervalMs, burst }: { readonly intervalMs: number; readonly burst: number }) {
    this.#intervalMs = intervalMs;
    this.#burst = burst;
  }

  /** Tells how long the next turn has to wait, in milliseconds; 0 for not at all. */
  waitMs(nowMs: number): number {
    this.#follow(nowMs);
    return Math.max(0, this.#nextMs - nowMs - (this.#burst - 1) * this.#intervalMs);
  }

  /** Takes the next turn, and tells how long it has to wait. */
  take(nowMs: number): number {
    const waitMs = this.waitMs(nowMs);
    this.#nextMs = Math.max(this.#nextMs, nowMs) + this.#intervalMs;
    return waitMs;
  }

  /** A clock that is set back takes the turns along: nobody waits until it has caught up. */
  #follow(nowMs: number): void {
    if (nowMs < this.#lastMs) this.#nextMs -= this.#lastMs - nowMs;
    this.#lastMs = nowMs;
  }
}
