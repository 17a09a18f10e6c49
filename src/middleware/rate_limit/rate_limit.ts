/**
 * Rate limits.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import type { Context } from "../../core/http/context.ts";
import { TooManyRequestsException } from "../../core/http/http_exception.ts";
import { hooked } from "../../core/module/request_hooks.ts";
import { base64Of } from "../../platform/base64.ts";
import { whenReady } from "../../platform/ready.ts";
import { clientIp, networkOf, parseIp, trustsProxies } from "../client_ip.ts";
import { FallbackStore, MemoryRateLimitStore } from "./memory_rate_limit_store.ts";
import type { RateLimitHit } from "./rate_limit_store.ts";
import { checkRateLimit, type RateLimitOptions } from "./rate_limit_options.ts";
import { writeHeaders } from "../response_headers.ts";

const MAX_KEY_LENGTH = 128;

/**
 * Returns middleware that allows a client `max` requests in a window, which starts with its first
 * request, and refuses more with 429. The response of every counted request has `RateLimit` and
 * `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10), that of a refused one also
 * `Retry-After`. While the store fails, each process counts by itself, requests before the failure
 * included: a client is allowed `max` requests in a window by each.
 *
 * @throws {TypeError} if an option is unknown
 * @throws {RangeError} if an option is out of range
 */
export function rateLimit(options: RateLimitOptions = {}): MiddlewareHandler {
  checkRateLimit(options);
  const {
    max = 100,
    windowMs = 60_000,
    name = "default",
    key = clientIp,
    store = new MemoryRateLimitStore(),
    storeTimeoutMs = 500,
    skip,
  } = options;
  const counter = store instanceof MemoryRateLimitStore
    ? store
    : new FallbackStore(store, { timeoutMs: storeTimeoutMs });
  const policy = `"${name}";q=${max};w=${windowMs / 1000}`;
  const prefix = `${name}:${max}:${windowMs}:`; // different limits in one store never share a count
  let hasWarned = key !== clientIp;

  const counted = (c: Context) =>
    whenReady(
      whenReady(key(c), (client) => bounded(client ? network(client) : "unknown")),
      (client) => whenReady(counter.hit(prefix + client, windowMs), (hit) => checked(hit, c)),
    );

  /** Returns the headers that report a hit. */
  function checked(hit: RateLimitHit, c: Context): Readonly<Record<string, string>> {
    const resetSeconds = Math.max(1, Math.ceil(hit.resetMs / 1000));
    const headers = {
      "RateLimit": `"${name}";r=${Math.max(0, max - hit.count)};t=${resetSeconds}`,
      "RateLimit-Policy": policy,
    };
    if (hit.count > max) {
      if (!hasWarned && isOfUntrustedProxy(c)) {
        hasWarned = true;
        getLogger(["fw", "rate-limit"]).warn(UNTRUSTED);
      }
      throw new TooManyRequestsException(`Try again in ${resetSeconds} s`, {
        headers: { ...headers, "Retry-After": String(resetSeconds) },
      });
    }
    return headers;
  }

  return hooked({
    refuses: true,
    before: (c) => whenReady(skip?.(c), (isSkipped) => isSkipped ? undefined : counted(c)),
    after(c, headers, failure) {
      if (headers) writeHeaders(c, headers, { append: true, failure });
    },
  });
}

const UNTRUSTED =
  "A request over the limit has X-Forwarded-For, which is ignored: if it passed a " +
  "proxy, all clients of that proxy share the limit, unless useTrustedProxy() is called";

/** Checks whether a request may have passed a proxy, whose address then counts as the client's. */
function isOfUntrustedProxy(c: Context): boolean {
  return c.req.header("x-forwarded-for") !== undefined && !trustsProxies(c);
}

/** Returns the network of an address, and any other key unchanged. */
function network(key: string): string {
  const ip = key.includes(":") ? parseIp(key) : undefined;
  return ip === undefined ? key : networkOf(ip);
}

/** Returns the key, or its hash if it is long, so that clients cannot fill the store. */
function bounded(key: string): string | Promise<string> {
  return key.length <= MAX_KEY_LENGTH ? key : hashed(key);
}

async function hashed(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return `sha256:${base64Of(new Uint8Array(digest))}`;
}
