/**
 * Limits how many requests a client may send.
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

/** Who may send how much. */
export interface RateLimitOptions {
  /** The most requests of one client in a window, 100 by default. */
  readonly max?: number;
  /** The length of a window: a whole number of seconds, in milliseconds; 60 000 by default. */
  readonly windowMs?: number;
  /** What the limit is called in response fields and in a shared store; `default` by default. */
  readonly name?: string;
  /**
   * Tells clients apart: by address unless given, an IPv6 client by its /64. All requests for which
   * it gives `undefined` count together; so do, by default, those without an address.
   */
  readonly key?: (c: Context) => string | undefined | Promise<string | undefined>;
  /** Where counts are kept, in the process's memory by default. */
  readonly store?: RateLimitStore;
  /** How long the store may take, in milliseconds, before a request passes uncounted; 500 by default. */
  readonly storeTimeoutMs?: number;
  /** Exempts a request, which is then not counted either; none by default. */
  readonly skip?: (c: Context) => boolean | Promise<boolean>;
}

/** Options of `app.useRateLimit()`. */
export interface UseRateLimitOptions extends RateLimitOptions {
  /**
   * Whether requests are counted once their tokens are verified, so that `key` may ask who the caller
   * is; `false` by default, which spares the verification of what is over the limit.
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
 * Lets a client send `max` requests in a window that starts with its first, and refuses more with
 * 429. Every response that was counted carries `RateLimit` and `RateLimit-Policy`
 * (draft-ietf-httpapi-ratelimit-headers-10), a refused one also `Retry-After`. If the store fails,
 * requests pass.
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

/** Keeps a client from filling the store with long keys. */
async function bounded(key: string): Promise<string> {
  if (key.length <= MAX_KEY_LENGTH) return key;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return `sha256:${btoa(String.fromCharCode(...new Uint8Array(digest)))}`;
}

function requireThat(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new RangeError(`Cannot limit rate: ${otherwise}`);
}
