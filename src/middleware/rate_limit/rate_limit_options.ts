/**
 * The options of rate limits.
 *
 * @module
 */
import type { Context } from "../../core/http/context.ts";
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { isTimeLimit } from "../../platform/time_limit.ts";
import type { RateLimitStore } from "./rate_limit_store.ts";

/** Options of `rateLimit()`. */
export interface RateLimitOptions {
  /**
   * The largest number of requests of one client in a window, a positive integer; 100 by default.
   */
  readonly max?: number;
  /** The length of a window: a whole number of seconds, in milliseconds; 60 000 by default. */
  readonly windowMs?: number;
  /**
   * The name in response fields and in a shared store, where limits share a count if they have the
   * same `name`, `max` and `windowMs`: 1 to 64 of `A-Za-z0-9_.-`; `default` by default.
   */
  readonly name?: string;
  /**
   * Returns the key that a request is counted under; by default `clientIp`. An IPv6 address counts
   * as its /64 network, in which one client can choose among 2^64. All requests for which it
   * returns `undefined`, by default those without an address, are counted together.
   */
  readonly key?: (c: Context) => string | undefined | Promise<string | undefined>;
  /** Where counts are stored; in the memory of the process by default. */
  readonly store?: RateLimitStore;
  /**
   * The time limit of the store in milliseconds, after which the process counts by itself; 500 by
   * default. Time for which the event loop is held up does not count.
   */
  readonly storeTimeoutMs?: number;
  /** Returns `true` for requests that are neither limited nor counted; none by default. */
  readonly skip?: (c: Context) => boolean | Promise<boolean>;
}

/** Options of `app.useRateLimit()`. */
export interface UseRateLimitOptions extends RateLimitOptions {
  /**
   * Whether requests are counted after authentication and after the middleware of
   * `use(..., { afterAuthentication: true })`, so that `key` can read the caller's identity;
   * `false` by default, so that no token is verified for requests over the limit.
   */
  readonly afterAuthentication?: boolean;
}

/** The key of the member of the plugins of `app.useRateLimit()` with their options. */
export const limitsRate: unique symbol = Symbol("fw.limitsRate");

/**
 * Checks the options of a rate limit.
 *
 * @throws {TypeError} if one is unknown, `key` or `skip` is not a function, or the store has no
 * method `hit`
 * @throws {RangeError} if one is out of range
 */
export function checkRateLimit(options: RateLimitOptions): void {
  const refuse: Refuse = refusing("limit rate");
  checkNames(options, {
    known: ["max", "windowMs", "name", "key", "store", "storeTimeoutMs", "skip"],
    refuse,
  });
  for (const name of ["key", "skip"] as const) {
    const hook = options[name];
    if (hook !== undefined && typeof hook !== "function") refuse(`${name} is not a function`);
  }
  const { store } = options;
  if (store !== undefined && typeof store?.hit !== "function") {
    refuse("store has no method hit; wrap a Redis client in a RedisRateLimitStore");
  }
  const { max = 1, windowMs = 1000, name = "default", storeTimeoutMs = 1 } = options;
  requireThat(Number.isSafeInteger(max) && max > 0, `max ${max} is not a positive integer`);
  requireThat(
    Number.isSafeInteger(windowMs) && windowMs > 0 && windowMs % 1000 === 0,
    `windowMs ${windowMs} is not a whole number of seconds`,
  );
  requireThat(isTimeLimit(storeTimeoutMs), `storeTimeoutMs ${storeTimeoutMs} is not a time limit`);
  requireThat(/^[\w.-]{1,64}$/.test(name), `name ${JSON.stringify(name)} is not a short token`);
}

function requireThat(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new RangeError(`Cannot limit rate: ${otherwise}`);
}
