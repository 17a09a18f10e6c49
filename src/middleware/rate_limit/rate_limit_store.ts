/**
 * Where a rate limit keeps its counts.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { withTimeLimit } from "../../platform/time_limit.ts";

/** What a store knows after a hit. */
export interface RateLimitHit {
  /** The hits in the current window, this one included. */
  readonly count: number;
  /** When the window ends, in milliseconds from now. */
  readonly resetMs: number;
}

/** Counts hits in fixed windows, each of which starts with the first hit of its key. */
export interface RateLimitStore {
  /**
   * Counts one hit, atomically for all that share the store. `windowMs` is a whole number of
   * seconds, in milliseconds, and the key has at most 256 characters.
   */
  hit(key: string, windowMs: number): RateLimitHit | Promise<RateLimitHit>;
}

/** How long a store is waited for, and left alone after. */
export interface FailOpenStoreOptions {
  /** How long one answer may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Gives the time in milliseconds, from any start; the runtime's monotonic clock by default. */
  readonly now?: () => number;
}

const RETRY_MS = 1000;

/**
 * Wraps a store so that its failure costs neither requests nor time: it gives `undefined` instead
 * of a count while the store fails. An outage is logged when it begins and when it ends (category
 * `fw`, `rate-limit`), not for each request, and during it the store is asked once a second.
 */
export class FailOpenStore {
  readonly #store: RateLimitStore;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  readonly #logger = getLogger(["fw", "rate-limit"]);
  /** When the store may be asked again; `undefined` while it works. */
  #retryAtMs: number | undefined;

  /** Wraps a store. */
  constructor(
    store: RateLimitStore,
    { timeoutMs, now = () => performance.now() }: FailOpenStoreOptions,
  ) {
    this.#store = store;
    this.#timeoutMs = timeoutMs;
    this.#now = now;
  }

  /** Counts one hit, or gives `undefined` if the store cannot. */
  async hit(key: string, windowMs: number): Promise<RateLimitHit | undefined> {
    const retryAtMs = this.#retryAtMs;
    const isProbe = retryAtMs !== undefined;
    if (isProbe) {
      if (this.#now() < retryAtMs) return undefined;
      this.#postpone(); // so that only this request waits for the answer
    }
    try {
      const pending = this.#store.hit(key, windowMs);
      const hit = "then" in pending ? await withTimeLimit(pending, this.#timeoutMs) : pending;
      if (isProbe) this.#recover();
      return hit;
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  /** Ends the outage, as only a probe does: other answers may be of before it. */
  #recover(): void {
    this.#retryAtMs = undefined;
    this.#logger.info("Rate limits apply again");
  }

  #fail(error: unknown): void {
    if (this.#retryAtMs === undefined) {
      this.#logger.error("Rate limits are off: the store failed with {error}", { error });
    }
    this.#postpone();
  }

  /** Leaves the store alone until whatever it was asked before has ended. */
  #postpone(): void {
    this.#retryAtMs = this.#now() + Math.max(RETRY_MS, this.#timeoutMs);
  }
}
