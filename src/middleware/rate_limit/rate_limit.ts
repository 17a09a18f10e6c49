/**
 * Rate limits.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import type { Context } from "../../core/http/context.ts";
import { TooManyRequestsException } from "../../core/http/http_exception.ts";
import { type Plugin, throwingErrors } from "../../core/module/plugin.ts";
import { isTimeLimit } from "../../platform/time_limit.ts";
import { clientIp, networkOf } from "../client_ip.ts";
import { MemoryRateLimitStore } from "./memory_rate_limit_store.ts";
import { FailOpenStore, type RateLimitStore } from "./rate_limit_store.ts";
import { withResponseHeaders } from "../response_headers.ts";

/** Options of {@linkcode rateLimit}. */
export interface RateLimitOptions {
  /** The largest number of requests of one client in a window, a positive integer; 100 by default. */
  readonly max?: number;
  /** The length of a window: a whole number of seconds, in milliseconds; 60 000 by default. */
  readonly windowMs?: number;
  /** The name in response fields and in a shared store: 1 to 64 of `A-Za-z0-9_.-`; `default` by default. */
  readonly name?: string;
  /**
   * Returns the key that a request is counted under; by default the client's address, or its /64 network
   * for IPv6. All requests for which it returns `undefined`, by default those without an address, are
   * counted together.
   */
  readonly key?: (c: Context) => string | undefined | Promise<string | undefined>;
  /** Where counts are stored; in the memory of the process by default. */
  readonly store?: RateLimitStore;
  /** The time limit of the store in milliseconds, after which a request passes uncounted; 500 by default. */
  readonly storeTimeoutMs?: number;
  /** Returns `true` for requests that are neither limited nor counted; none by default. */
  readonly skip?: (c: Context) => boolean | Promise<boolean>;
}

/** Options of `app.useRateLimit()`. */
export interface UseRateLimitOptions extends RateLimitOptions {
  /**
   * Whether requests are counted after authentication and after the middleware of
   * `use(..., { afterAuthentication: true })`, so that `key` can read the caller's identity; `false` by
   * default, so that no token is verified for requests over the limit.
   */
  readonly afterAuthentication?: boolean;
}

const MAX_KEY_LENGTH = 128;

/**
 * Returns the plugin of {@linkcode rateLimit}. Limits of different names add up.
 *
 * @throws {RangeError} if an option is out of range
 */
export function rateLimitPlugin(
  { afterAuthentication = false, ...options }: UseRateLimitOptions = {},
): Plugin {
  const limit = throwingErrors(rateLimit(options));
  return {
    slot: afterAuthentication ? "callerRateLimit" : "rateLimit",
    key: options.name ?? "default",
    install: (router) => void router.use(limit),
  };
}

/**
 * Returns middleware that allows a client `max` requests in a window, which starts with its first
 * request, and refuses more with 429. The response of every counted request has `RateLimit` and
 * `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10), that of a refused one also `Retry-After`.
 * If the store fails, requests pass.
 *
 * @throws {RangeError} if an option is out of range
 */
export function rateLimit(
  {
    max = 100,
    windowMs = 60_000,
    name = "default",
    key = clientNetwork,
    store = new MemoryRateLimitStore(),
    storeTimeoutMs = 500,
    skip,
  }: RateLimitOptions = {},
): MiddlewareHandler {
  requireThat(Number.isSafeInteger(max) && max > 0, `max ${max} is not a positive integer`);
  requireThat(
    Number.isSafeInteger(windowMs) && windowMs > 0 && windowMs % 1000 === 0,
    `windowMs ${windowMs} is not a whole number of seconds`,
  );
  requireThat(isTimeLimit(storeTimeoutMs), `storeTimeoutMs ${storeTimeoutMs} is not a time limit`);
  requireThat(/^[\w.-]{1,64}$/.test(name), `name ${JSON.stringify(name)} is not a short token`);
  const counter = new FailOpenStore(store, { timeoutMs: storeTimeoutMs });
  const policy = `"${name}";q=${max};w=${windowMs / 1000}`;

  return async function rateLimit(c, next) {
    if (await skip?.(c)) return await next();
    const client = await bounded(await key(c) ?? "unknown");
    const hit = await counter.hit(`${name}:${client}`, windowMs);
    if (!hit) return await next();

    const resetSeconds = Math.max(1, Math.ceil(hit.resetMs / 1000));
    const headers = {
      "RateLimit": `"${name}";r=${Math.max(0, max - hit.count)};t=${resetSeconds}`,
      "RateLimit-Policy": policy,
    };
    if (hit.count > max) {
      throw new TooManyRequestsException(`Try again in ${resetSeconds} s`, {
        headers: { ...headers, "Retry-After": String(resetSeconds) },
      });
    }
    await withResponseHeaders(c, next, { headers, append: true });
  };
}

function clientNetwork(c: Context): string | undefined {
  const ip = clientIp(c);
  return ip && networkOf(ip);
}

/** Returns the key, or its hash if it is long, so that clients cannot fill the store. */
async function bounded(key: string): Promise<string> {
  if (key.length <= MAX_KEY_LENGTH) return key;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return `sha256:${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}

function requireThat(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new RangeError(`Cannot limit rate: ${otherwise}`);
}
