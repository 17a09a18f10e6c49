/**
 * Keeps the counts of a rate limit wherever `rate-limiter-flexible` can.
 *
 * @module
 */
import type { RateLimitHit, RateLimitStore } from "./rate_limit_store.ts";

/** What every limiter of `rate-limiter-flexible` has, as far as it is used here. */
export interface FlexibleLimiter {
  /** Counts points for a key in a window of so many seconds, whether or not a limit is passed. */
  penalty(
    key: string,
    points: number,
    options: { readonly customDuration: number },
  ): Promise<{ readonly consumedPoints: number; readonly msBeforeNext: number }>;
}

/**
 * A store over a limiter of `rate-limiter-flexible` that the application has made: PostgreSQL,
 * MySQL, SQLite, Valkey, Memcached, DynamoDB and more. The limiter's own `points` and `duration`
 * do not matter; its `keyPrefix` does.
 */
export class FlexibleRateLimitStore implements RateLimitStore {
  readonly #limiter: FlexibleLimiter;

  /** Creates a store over a limiter. */
  constructor(limiter: FlexibleLimiter) {
    this.#limiter = limiter;
  }

  /** Counts one hit. */
  async hit(key: string, windowMs: number): Promise<RateLimitHit> {
    const { consumedPoints, msBeforeNext } = await this.#limiter.penalty(key, 1, {
      customDuration: windowMs / 1000,
    });
    return { count: consumedPoints, resetMs: msBeforeNext };
  }
}
