/**
 * Stores of the counts of a rate limit.
 *
 * @module
 */

/** The state of a window after a hit. */
export interface RateLimitHit {
  /** The number of hits in the current window, including this one. */
  readonly count: number;
  /** The time until the window ends, in milliseconds. */
  readonly resetMs: number;
}

/** Counts hits in fixed windows, each of which starts with the first hit of its key. */
export interface RateLimitStore {
  /**
   * Counts one hit, atomically among all processes that share the store. `windowMs` is a whole
   * number of seconds, in milliseconds, and the key has at most 256 characters.
   */
  hit(key: string, windowMs: number): RateLimitHit | Promise<RateLimitHit>;
}
