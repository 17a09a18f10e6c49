/**
 * Where a rate limit keeps its counts.
 *
 * @module
 */

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
