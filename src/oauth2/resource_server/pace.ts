/**
 * How fast a key set may be fetched.
 *
 * @module
 */

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
