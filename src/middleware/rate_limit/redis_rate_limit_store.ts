/**
 * Keeps the counts of a rate limit in Redis, for applications of many processes.
 *
 * @module
 */
import { FlexibleRateLimitStore } from "./flexible_rate_limit_store.ts";
import type { RateLimitHit, RateLimitStore } from "./rate_limit_store.ts";

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
