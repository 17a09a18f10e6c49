/**
 * Rate limit stores on `rate-limiter-flexible`, such as Redis, for applications with
 * several processes.
 *
 * @module
 */
import type { RateLimitHit, RateLimitStore } from "./rate_limit_store.ts";

/** A limiter of `rate-limiter-flexible`. */
export interface FlexibleLimiter {
  /** Counts points for a key in a window of `customDuration` seconds, even beyond a limit. */
  penalty(
    key: string,
    points: number,
    options: { readonly customDuration: number },
  ): Promise<{ readonly consumedPoints: number; readonly msBeforeNext: number }>;
}

/**
 * A store on a limiter of `rate-limiter-flexible` that the application creates: for PostgreSQL,
 * MySQL, SQLite, Valkey, Memcached, DynamoDB and more. The `points` and `duration` of the limiter
 * are ignored; its `keyPrefix` is used.
 */
export class FlexibleRateLimitStore implements RateLimitStore {
  readonly #limiter: FlexibleLimiter;

  /** Creates a store on a limiter. */
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

/** Options of a {@linkcode RedisRateLimitStore}. */
export interface RedisRateLimitStoreOptions {
  /** The prefix of the keys, before a colon; `fw:rate-limit` by default. */
  readonly prefix?: string;
}

/**
 * A store on a Redis client of the application, from `ioredis` or `redis` (node-redis), which it
 * neither connects nor closes. Each hit is one script that Redis runs atomically: all processes
 * share a count.
 */
export class RedisRateLimitStore implements RateLimitStore {
  readonly #store: Promise<RateLimitStore>;

  /** Creates a store on a client. */
  constructor(client: object, options: RedisRateLimitStoreOptions = {}) {
    // Begun here, as loading counts as a delay of the first hit otherwise.
    this.#store = openRedisStore(client, options);
    this.#store.catch(() => {}); // each hit fails
  }

  /** Counts one hit. */
  async hit(key: string, windowMs: number): Promise<RateLimitHit> {
    return await (await this.#store).hit(key, windowMs);
  }
}

async function openRedisStore(
  client: object,
  { prefix = "fw:rate-limit" }: RedisRateLimitStoreOptions,
): Promise<RateLimitStore> {
  const { RateLimiterRedis } = await import("rate-limiter-flexible");
  const limiter = new RateLimiterRedis({
    storeClient: client,
    useRedisPackage: !("defineCommand" in client), // a method of ioredis alone
    keyPrefix: prefix,
    points: 1, // the limit itself is checked by rateLimit()
    duration: 1,
  });
  return new FlexibleRateLimitStore(limiter);
}
