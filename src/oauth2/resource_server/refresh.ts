/**
 * Fetches of a key set, shared by concurrent lookups and spaced.
 *
 * @module
 */
import { hasEnded, outlivesRequests } from "../../platform/wait_until.ts";

/** Options of a {@linkcode Refresh}. */
export interface RefreshOptions {
  /** The delay before the fetch, in milliseconds. */
  readonly waitMs: number;
  /** The time limit of the fetch, in milliseconds. */
  readonly timeoutMs: number;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
}

/** How long after its time limit a fetch is overdue, as a busy machine may delay it. */
const GRACE_MS = 1_000;

/**
 * A pending fetch. An edge runtime cancels it at the end of the request that started it, unless it
 * is passed to `waitUntil`; a cancelled fetch never settles.
 */
export class Refresh {
  /** Settles like the fetch, if that settles. */
  readonly done: Promise<void>;
  readonly #now: () => number;
  readonly #overdueAtMs: number;
  #isSent = false;

  /** Starts a refresh: waits, then fetches. */
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

  /** Whether the request has been sent: its answer may be older than a later lookup. */
  get isSent(): boolean {
    return this.#isSent;
  }

  /** Whether the fetch should have ended, and may never end. */
  get isOverdue(): boolean {
    return !outlivesRequests() && this.#now() >= this.#overdueAtMs;
  }

  /**
   * Waits until the fetch has ended or is overdue; returns whether it has ended. Rejects
   * like the fetch.
   */
  ended(): Promise<boolean> {
    return hasEnded(this.done, this.#overdueAtMs - this.#now());
  }
}

/** Spaces events by a minimum interval, after an initial burst. */
export class Pace {
  readonly #intervalMs: number;
  readonly #burst: number;
  #nextMs = -Infinity;
  #lastMs = -Infinity;

  /** Creates a pace with the whole burst available. */
  constructor({ intervalMs, burst }: { readonly intervalMs: number; readonly burst: number }) {
    this.#intervalMs = intervalMs;
    this.#burst = burst;
  }

  /** Returns how long the next event has to wait, in milliseconds. */
  waitMs(nowMs: number): number {
    this.#follow(nowMs);
    return Math.max(0, this.#nextMs - nowMs - (this.#burst - 1) * this.#intervalMs);
  }

  /** Reserves the next event, and returns how long it has to wait, in milliseconds. */
  take(nowMs: number): number {
    const waitMs = this.waitMs(nowMs);
    this.#nextMs = Math.max(this.#nextMs, nowMs) + this.#intervalMs;
    return waitMs;
  }

  /** Shifts the events by the same time if the clock was set back. */
  #follow(nowMs: number): void {
    if (nowMs < this.#lastMs) this.#nextMs -= this.#lastMs - nowMs;
    this.#lastMs = nowMs;
  }
}
