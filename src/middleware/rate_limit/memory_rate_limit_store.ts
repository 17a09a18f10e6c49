/**
 * A rate limit store in the memory of one process.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";
import type { RateLimitHit, RateLimitStore } from "./rate_limit_store.ts";

/** Options of a {@linkcode MemoryRateLimitStore}. */
export interface MemoryRateLimitStoreOptions {
  /** The largest number of keys, a positive integer; 100 000 by default, which take about 20 MB. */
  readonly maxKeys?: number;
  /**
   * Returns the time in milliseconds from any origin; the monotonic clock of the
   * runtime by default.
   */
  readonly now?: () => number;
}

interface Window {
  count: number;
  readonly endMs: number;
}

/**
 * A store for an application that runs as one process. It has no timers: once per window, a hit
 * deletes the expired windows.
 *
 * When it is full, it deletes the expired windows and then, down to nine tenths of its size, those
 * with the fewest hits. A client that sends many keys can therefore remove a count only by hitting
 * `maxKeys` keys as often.
 */
export class MemoryRateLimitStore implements RateLimitStore {
  readonly #maxKeys: number;
  readonly #now: () => number;
  readonly #windows: BoundedMap<string, Window>;
  #nextSweepMs = -Infinity;

  /**
   * Creates an empty store.
   *
   * @throws {RangeError} if `maxKeys` is not a positive integer
   */
  constructor(
    { maxKeys = 100_000, now = () => performance.now() }: MemoryRateLimitStoreOptions = {},
  ) {
    if (!Number.isSafeInteger(maxKeys) || maxKeys < 1) {
      throw new RangeError(
        `Cannot create rate limit store: maxKeys ${maxKeys} is not a positive integer`,
      );
    }
    this.#maxKeys = maxKeys;
    this.#now = now;
    this.#windows = new BoundedMap({ max: maxKeys, now });
  }

  /** The number of keys, including expired ones that are not deleted yet. */
  get size(): number {
    return this.#windows.size;
  }

  /** Counts one hit. */
  hit(key: string, windowMs: number): RateLimitHit {
    const nowMs = this.#now();
    const window = this.#windows.get(key);
    if (window) {
      window.count++;
      return { count: window.count, resetMs: window.endMs - nowMs };
    }
    if (nowMs >= this.#nextSweepMs) {
      this.#windows.prune();
      this.#nextSweepMs = nowMs + windowMs;
    }
    if (this.#windows.size >= this.#maxKeys) {
      this.#windows.prune();
      this.#dropLightest(this.#windows.size - Math.floor(this.#maxKeys * 0.9));
    }
    const endMs = nowMs + windowMs;
    this.#windows.set(key, { count: 1, endMs }, { expiresAtMs: endMs });
    return { count: 1, resetMs: windowMs };
  }

  /** Deletes many windows at once, so that a hit on a full store costs O(1) on average. */
  #dropLightest(excess: number): void {
    const counts = Float64Array.from(this.#windows, ([, { count }]) => count).sort();
    const heaviest = counts[excess - 1] ?? 0;
    for (const [key, { count }] of this.#windows) {
      if (excess <= 0) return;
      if (count > heaviest) continue;
      this.#windows.delete(key);
      excess--;
    }
  }
}
