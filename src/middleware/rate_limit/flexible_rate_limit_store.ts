/**
 * Rate limit stores for applications with several processes: in Redis, or on any limiter of
 * `rate-limiter-flexible`.
 *
 * @module
 */
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { RedisCommands } from "../../platform/redis_commands.ts";
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

/** The used part of a client of `ioredis` or `redis` (node-redis). */
export interface RedisScriptClient {
  /** Runs a script; its other arguments differ between the clients. */
  eval(script: string, ...args: never[]): Promise<unknown>;
}

/** The most pending hits: the client keeps those that have timed out while Redis is away. */
const MAX_PENDING = 10_000;

/**
 * Counts a hit, and returns the count and the rest of its window in milliseconds. A window is too
 * long if the clock of Redis was set back, or a replica with another clock has taken over.
 */
const HIT = `
local count = redis.call("INCR", KEYS[1])
local rest = redis.call("PTTL", KEYS[1])
local window = tonumber(ARGV[1])
if rest < 0 or rest > window then
  rest = window
  redis.call("PEXPIRE", KEYS[1], rest)
end
return { count, rest }`;

/**
 * A store on a Redis client of the application, from `ioredis` or `redis` (node-redis), which it
 * neither connects nor closes. Each hit is one script that Redis runs atomically: all processes
 * share a count. At most 10 000 hits are pending; more fail. A client without a listener of `error`
 * gets one that logs (category `fw`, `redis`): a client of node-redis would end the process.
 */
export class RedisRateLimitStore implements RateLimitStore {
  readonly #client: RedisScriptClient;
  readonly #commands: RedisCommands;
  readonly #prefix: string;

  /**
   * Creates a store on a client.
   *
   * @throws {TypeError} if the client has no `eval`, or an option is unknown
   */
  constructor(client: RedisScriptClient, options: RedisRateLimitStoreOptions = {}) {
    const refuse: Refuse = refusing("count in Redis");
    if (typeof client.eval !== "function") refuse("the client has no eval()");
    checkNames(options, { known: ["prefix"], refuse });
    const { prefix = "fw:rate-limit" } = options;
    this.#client = client;
    this.#commands = new RedisCommands(client, { maxPending: MAX_PENDING });
    this.#prefix = prefix;
  }

  /** Counts one hit. */
  async hit(key: string, windowMs: number): Promise<RateLimitHit> {
    const redisKey = `${this.#prefix}:${key}`;
    const [count, resetMs] = await this.#run(redisKey, String(windowMs)) as [number, number]; // as HIT returns
    return { count, resetMs };
  }

  #run(key: string, windowMs: string): Promise<unknown> {
    // `defineCommand` is a method of ioredis alone
    const args = "defineCommand" in this.#client
      ? [1, key, windowMs]
      : [{ keys: [key], arguments: [windowMs] }];
    return this.#commands.send(() => this.#client.eval(HIT, ...args as never[]));
  }
}
