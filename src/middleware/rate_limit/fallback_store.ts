/**
 * What a rate limit does while its store fails.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { withTimeLimit } from "../../platform/time_limit.ts";
import { MemoryRateLimitStore } from "./memory_rate_limit_store.ts";
import type { RateLimitHit, RateLimitStore } from "./rate_limit_store.ts";

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
 * hits by itself, and while the store fails, its own counts apply. The start and the end of an
 * outage are logged (category `fw`, `rate-limit`), not each request. During an outage the store is
 * tried once per second.
 */
export class FallbackStore implements RateLimitStore {
  readonly #store: RateLimitStore;
  readonly #own: MemoryRateLimitStore;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  readonly #logger = getLogger(["fw", "rate-limit"]);
  /** When the store is tried again; `undefined` while it works. */
  #retryAtMs: number | undefined;

  /** Wraps a store. */
  constructor(
    store: RateLimitStore,
    { timeoutMs, now = () => performance.now() }: FallbackStoreOptions,
  ) {
    this.#store = store;
    this.#own = new MemoryRateLimitStore({ now });
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
    try {
      const pending = this.#store.hit(key, windowMs);
      const hit = "then" in pending ? await withTimeLimit(pending, this.#timeoutMs) : pending;
      if (isProbe) this.#recover();
      return hit;
    } catch (error) {
      this.#fail(error);
      return own;
    }
  }

  /** Ends the outage. Only a probe does so: other results may be from before the outage. */
  #recover(): void {
    this.#retryAtMs = undefined;
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
