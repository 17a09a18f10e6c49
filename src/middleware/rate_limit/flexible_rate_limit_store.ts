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

/** How a {@linkcode RedisRateLimitStore} names its keys. */
export interface RedisRateLimitStoreOptions {
  /** What its keys start with, `fw:rate-limit` by default; a colon follows. */
  readonly prefix?: string;
}

/**
 * A store over the application's own Redis client, of `ioredis` or of `redis` (node-redis), which
 * it neither connects nor closes. Each hit is one script that Redis runs atomically, so many
 * processes share one count.
 */
export class RedisRateLimitStore implements RateLimitStore {
  readonly #client: object;
  readonly #prefix: string;
  #store: Promise<RateLimitStore> | undefined;

  /** Creates a store over a client. */
  constructor(client: object, { prefix = "fw:rate-limit" }: RedisRateLimitStoreOptions = {}) {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** Counts one hit. */
  async hit(key: string, windowMs: number): Promise<RateLimitHit> {
    const store = await (this.#store ??= this.#load());
    return await store.hit(key, windowMs);
  }

  async #load(): Promise<RateLimitStore> {
    const { RateLimiterRedis } = await import("rate-limiter-flexible");
    const limiter = new RateLimiterRedis({
      storeClient: this.#client,
      useRedisPackage: !("defineCommand" in this.#client), // which is ioredis's
      keyPrefix: this.#prefix,
      points: 1, // the limit itself is not the store's
      duration: 1,
    });
    return new FlexibleRateLimitStore(limiter);
  }
}
