/**
 * Rate limit stores in the memory of one process: for applications of one process, and for the time
 * that a shared store is away.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { BoundedMap } from "../../platform/bounded_map.ts";
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { withTimeLimit } from "../../platform/time_limit.ts";
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

const MAX_KEYS = 100_000;

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
   * @throws {TypeError} if an option is unknown
   */
  constructor(options: MemoryRateLimitStoreOptions = {}) {
    const refuse: Refuse = refusing("create rate limit store");
    checkNames(options, { known: ["maxKeys", "now"], refuse });
    const { maxKeys = MAX_KEYS, now = () => performance.now() } = options;
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

/** Options of {@linkcode FallbackStore}. */
export interface FallbackStoreOptions {
  /** The time limit of one hit in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Returns the time in milliseconds from any origin; the monotonic clock of the
   * runtime by default.
   */
  readonly now?: () => number;
}

const RETRY_MS = 1000;

/**
 * Wraps a store so that its failures neither refuse nor delay requests: the process also counts the
 * hits by itself, and while the store fails, its own counts apply. They still do for a window that
 * began before the end of an outage, or if the store has lost its window, if they are higher.
 * The start and the end of an outage are logged (category `fw`, `rate-limit`), not each request.
 * During an outage the store is tried once per second.
 */
export class FallbackStore implements RateLimitStore {
  readonly #store: RateLimitStore;
  readonly #own: MemoryRateLimitStore;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  readonly #logger = getLogger(["fw", "rate-limit"]);
  /** When the store is tried again; `undefined` while it works. */
  #retryAtMs: number | undefined;
  /** The end of the last outage. */
  #recoveredAtMs = -Infinity;
  /** The latest end of the windows of the store, by key; each is kept until its earliest end. */
  readonly #ends: BoundedMap<string, number>;

  /** Wraps a store. */
  constructor(
    store: RateLimitStore,
    { timeoutMs, now = () => performance.now() }: FallbackStoreOptions,
  ) {
    this.#store = store;
    this.#own = new MemoryRateLimitStore({ now });
    this.#ends = new BoundedMap({ max: MAX_KEYS, now });
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  /** Counts one hit. */
  async hit(key: string, windowMs: number): Promise<RateLimitHit> {
    const own = this.#own.hit(key, windowMs);
    const retryAtMs = this.#retryAtMs;
    const isProbe = retryAtMs !== undefined;
    if (isProbe) {
      if (this.#now() < retryAtMs) return own;
      this.#postpone(); // so that only this request waits for the store
    }
    const askedAtMs = this.#now();
    try {
      const pending = this.#store.hit(key, windowMs);
      const hit = "then" in pending ? await withTimeLimit(pending, this.#timeoutMs) : pending;
      if (isProbe) this.#recover();
      const isPartial = this.#now() + own.resetMs - windowMs < this.#recoveredAtMs ||
        this.#hasLost(key, {
          earliestMs: askedAtMs + hit.resetMs,
          latestMs: this.#now() + hit.resetMs + 1, // Redis reports whole milliseconds
        });
      return isPartial && own.count > hit.count ? own : hit;
    } catch (error) {
      this.#fail(error);
      return own;
    }
  }

  /**
   * Checks whether the store began a new window, with this end, before the known one ended: then it
   * has lost its counts, as in a restart of Redis during which no request came.
   */
  #hasLost(
    key: string,
    end: { readonly earliestMs: number; readonly latestMs: number },
  ): boolean {
    const knownMs = this.#ends.get(key);
    if (knownMs !== undefined) return end.earliestMs > knownMs;
    this.#ends.set(key, end.latestMs, { expiresAtMs: end.earliestMs });
    return false;
  }

  /** Ends the outage. Only a probe does so: other results may be from before the outage. */
  #recover(): void {
    this.#retryAtMs = undefined;
    this.#recoveredAtMs = this.#now();
    this.#logger.info("Rate limits are shared again");
  }

  #fail(error: unknown): void {
    if (this.#retryAtMs === undefined) {
      this.#logger.error(
        "Each process limits rates by itself: the store failed with {error}",
        { error },
      );
    }
    this.#postpone();
  }

  /** Waits with the next try until earlier hits have ended or timed out. */
  #postpone(): void {
    this.#retryAtMs = this.#now() + Math.max(RETRY_MS, this.#timeoutMs);
  }
}
