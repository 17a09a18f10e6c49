/**
 * Keeps the counts of a rate limit in the memory of one process.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";
import type { RateLimitHit, RateLimitStore } from "./rate_limit_store.ts";

/** The bounds of a {@linkcode MemoryRateLimitStore}. */
export interface MemoryRateLimitStoreOptions {
  /** The most keys that are counted at a time; 100 000 by default, which take about 20 MB. */
  readonly maxKeys?: number;
  /** Gives the time in milliseconds, from any start; the runtime's monotonic clock by default. */
  readonly now?: () => number;
}

interface Window {
  count: number;
  readonly endMs: number;
}

/**
 * A store for an application that runs as one process. It has no timers: expired windows are
 * dropped by later hits, once a window.
 *
 * When it is full, a tenth of it makes room: expired windows first, then those with the fewest
 * hits. So nobody can have a count forgotten, their own or another's, by sending many keys, unless
 * they hit all `maxKeys` of them as often.
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
      throw new RangeError(`Cannot create rate limit store: ${maxKeys} keys is not positive`);
    }
    this.#maxKeys = maxKeys;
    this.#now = now;
    this.#windows = new BoundedMap({ max: maxKeys, now });
  }

  /** The number of keys it holds, some of which may have expired. */
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

  /** Drops many at once, so that a hit on a full store still costs O(1) on average. */
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
