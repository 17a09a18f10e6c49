/**
 * A cache of the keys of an identity provider.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { MAX_DELAY_MS } from "../../platform/time_limit.ts";
import { boundedFetch, type Fetch, FetchFailure } from "../../platform/bounded_fetch.ts";
import { checkNames } from "../../platform/option_names.ts";
import { endpointUrl } from "../ground/endpoint_url.ts";
import { refuseOption } from "../ground/refuse_option.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { KeySet, type KeySource, type VerifyOptions } from "./key_set.ts";
import { Pace, Refresh } from "./refresh.ts";
import type { SigningAlgorithm } from "./signing_algorithm.ts";

/** Options of a {@linkcode JwksCache}. */
export interface JwksCacheOptions {
  /** Sends the requests; the platform's `fetch` by default. */
  readonly fetch?: Fetch;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
  /** The time limit of a fetch in milliseconds; 5 000 by default. */
  readonly timeoutMs?: number;
}

const REFRESH_WINDOW_MS = 15 * 60_000;
const MAX_STALE_MS = 24 * 60 * 60_000;
const MAX_BYTES = 1024 * 1024;
/** How long after a failed fetch no background refresh starts. */
const RETRY_MS = 10_000;

/**
 * Caches the key set of a provider (RFC 7517 §5). Known keys are returned without waiting. After
 * the refresh window, the set is fetched again in the background; after two without a fetch,
 * lookups wait for one. If it fails, or the set has no key that can verify signatures, or none for
 * the algorithms that were looked up, the keys stay valid up to the maximum staleness. An unknown
 * key is looked up in a set that is fetched after the lookup began: concurrent lookups share that
 * fetch, and fetches are spaced (five in a row, then one every 1.25 s). So a flood of forged tokens
 * neither floods the provider nor hides a new key.
 *
 * @example
 * ```ts
 * import { JwksCache, JwtVerifier, ValidationConfig } from "@fw/fw/oauth2";
 *
 * const keys = new JwksCache("https://id.example.com/jwks").withRefreshWindow(5 * 60_000);
 * const verifier = new JwtVerifier(keys, new ValidationConfig("ES256").withAudience("orders"));
 * ```
 */
export class JwksCache implements KeySource {
  readonly #url: URL;
  readonly #options: Required<JwksCacheOptions>;
  /**
   * A flood of five seconds, including the lookups that wait at its end, causes at
   * most ten fetches.
   */
  readonly #pace = new Pace({ intervalMs: 1_250, burst: 5 });
  #refreshWindowMs = REFRESH_WINDOW_MS;
  #maxStaleMs = MAX_STALE_MS;
  #keys: KeySet = KeySet.EMPTY;
  /** The algorithms that were looked up. */
  readonly #algorithms = new Set<SigningAlgorithm>();
  #fetchedAtMs: number | undefined;
  #failedAtMs = -Infinity;
  #fetchCount = 0;
  #refresh: Refresh | undefined;

  /**
   * Creates an empty cache; the first lookup fetches the set.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the URL is neither https nor http to this machine, or
   * an option is unknown or invalid
   */
  constructor(url: string | URL, options: JwksCacheOptions = {}) {
    checkNames(options, {
      known: ["fetch", "now", "timeoutMs"],
      refuse: (why) => refuseOption("keys", why),
    });
    const { fetch = globalThis.fetch, now = Date.now, timeoutMs = 5_000 } = options;
    this.#url = endpointUrl("jwksUrl", url);
    this.#options = { fetch, now, timeoutMs };
    checkDuration("timeoutMs", timeoutMs, MAX_DELAY_MS);
  }

  /**
   * Returns an empty cache of the same set with a refresh window in milliseconds, after which the
   * set is fetched again; 15 minutes by default.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is not a duration
   */
  withRefreshWindow(milliseconds: number): JwksCache {
    return this.#with({ refreshWindowMs: checkDuration("the refresh window", milliseconds) });
  }

  /**
   * Returns an empty cache of the same set with a maximum staleness in milliseconds: so long
   * the keys stay valid after the last successful fetch if the provider is unavailable; 24
   * hours by default.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is not a duration
   */
  withMaxStale(milliseconds: number): JwksCache {
    return this.#with({ maxStaleMs: checkDuration("the longest staleness", milliseconds) });
  }

  /** The number of keys that can verify signatures. */
  get size(): number {
    return this.#keys.size;
  }

  /** The age of the keys in milliseconds; `undefined` before the first fetch. */
  get ageMs(): number | undefined {
    return this.#fetchedAtMs === undefined ? undefined : this.#options.now() - this.#fetchedAtMs;
  }

  /** The number of fetches, successful or not. */
  get fetchCount(): number {
    return this.#fetchCount;
  }

  /**
   * Fetches the set, or waits for a pending fetch.
   *
   * @throws {OAuth2Error} `JwksFetch` if that fails, or the set has no key that can verify
   * signatures, or none for the algorithms that were looked up; the keys stay unchanged
   */
  refresh(options?: VerifyOptions): Promise<void> {
    return this.#settled(this.#begin(options), options);
  }

  /**
   * Returns the known keys of a `kid`. After the refresh window, it starts a fetch in
   * the background. After two windows, it returns none, unless a fetch has failed in the last one.
   */
  find(kid: string, alg: SigningAlgorithm, options?: VerifyOptions): readonly CryptoKey[] {
    this.#algorithms.add(alg);
    const ageMs = this.#knownAgeMs();
    const windowMs = this.#refreshWindowMs;
    const isUnchecked = ageMs > windowMs * 2 && this.#failedMs > windowMs;
    if (isUnchecked || ageMs > this.#maxStaleMs) return [];
    if (ageMs > windowMs) this.#refreshInBackground(options);
    return this.#keys.find(kid, alg);
  }

  /**
   * Looks up the keys of an unknown `kid`.
   *
   * @throws {OAuth2Error} `UnknownKid` if a set that is fetched from now on does not contain it,
   * `JwksFetch` if no set can be fetched
   */
  async resolve(
    kid: string,
    alg: SigningAlgorithm,
    options?: VerifyOptions,
  ): Promise<readonly CryptoKey[]> {
    const pending = this.#begin(options);
    const mayBeOlder = pending.isSent;
    const find = () => this.find(kid, alg, options);
    await this.#settled(pending, options).catch((error) => {
      if (find().length === 0) throw error;
    });
    if (find().length === 0 && mayBeOlder) await this.refresh(options);
    const keys = find();
    if (keys.length > 0) return keys;
    throw new OAuth2Error({ code: "UnknownKid" }, "Cannot verify token: its key is unknown");
  }

  #with(
    { refreshWindowMs = this.#refreshWindowMs, maxStaleMs = this.#maxStaleMs }: {
      readonly refreshWindowMs?: number;
      readonly maxStaleMs?: number;
    },
  ): JwksCache {
    const cache = new JwksCache(this.#url, this.#options);
    cache.#refreshWindowMs = refreshWindowMs;
    cache.#maxStaleMs = maxStaleMs;
    return cache;
  }

  /**
   * Returns the age of the keys. If the clock was set back, they are due for a refresh
   * and age from now.
   */
  #knownAgeMs(): number {
    const { ageMs = Infinity } = this;
    if (ageMs >= 0) return ageMs;
    this.#fetchedAtMs = this.#options.now() - this.#refreshWindowMs - 1;
    return this.#refreshWindowMs + 1;
  }

  /** The time since a failed fetch, unless one has succeeded since. */
  get #failedMs(): number {
    return Math.abs(this.#options.now() - this.#failedAtMs);
  }

  #refreshInBackground(options?: VerifyOptions): void {
    if (this.#pending || this.#failedMs < RETRY_MS) return;
    if (this.#pace.waitMs(this.#options.now()) > 0) return;
    this.#begin(options).done.catch(() => {}); // the failure is logged
  }

  /** Returns the pending fetch, or starts one. */
  #begin(options?: VerifyOptions): Refresh {
    if (this.#pending) return this.#pending;
    const { now, timeoutMs } = this.#options;
    const fetch = () => this.#fetch().finally(() => this.#forget(refresh));
    const refresh = new Refresh(fetch, { waitMs: this.#pace.take(now()), timeoutMs, now });
    this.#refresh = refresh;
    options?.waitUntil?.(refresh.done.catch(() => {})); // those who wait for it receive the error
    return refresh;
  }

  /** Waits for a fetch, and repeats it if it is overdue. */
  async #settled(refresh: Refresh, options?: VerifyOptions): Promise<void> {
    if (await refresh.ended()) return;
    this.#forget(refresh);
    await this.refresh(options);
  }

  get #pending(): Refresh | undefined {
    return this.#refresh?.isOverdue ? undefined : this.#refresh;
  }

  #forget(refresh: Refresh): void {
    if (this.#refresh === refresh) this.#refresh = undefined;
  }

  async #fetch(): Promise<void> {
    const logger = getLogger(["fw", "oauth2", "jwks"]);
    const url = this.#url.origin + this.#url.pathname;
    this.#fetchCount++;
    try {
      const json = await this.#request();
      const keys = await KeySet.read(json, this.#keys);
      const known = this.#knownAgeMs() > this.#maxStaleMs ? KeySet.EMPTY : this.#keys;
      // a provider that fails or starts can send an empty set: tokens of the last keys stay valid
      if (keys.size === 0) throw new FetchFailure("it has no key that can verify signatures");
      const wanted = [...this.#algorithms];
      if (wanted.some((alg) => known.has(alg)) && !wanted.some((alg) => keys.has(alg))) {
        throw new FetchFailure(`it has no key for ${wanted.join(" or ")}`);
      }
      this.#keys = keys;
      this.#fetchedAtMs = this.#options.now();
      this.#failedAtMs = -Infinity;
      logger.debug("Fetched {keys} keys of {url}", { url, keys: keys.size });
    } catch (error) {
      this.#failedAtMs = this.#options.now();
      const reason = error instanceof Error ? error.message : String(error);
      const cause = error instanceof FetchFailure ? error.cause : undefined;
      logger.warn("Cannot fetch the keys of {url}: {reason}", { url, reason });
      throw new OAuth2Error({ code: "JwksFetch" }, `Cannot fetch keys: ${reason}`, { cause });
    }
  }

  async #request(): Promise<unknown> {
    const headers = { accept: "application/jwk-set+json, application/json" };
    const { status, text } = await boundedFetch(this.#url, { headers }, {
      ...this.#options,
      maxBytes: MAX_BYTES,
    });
    if (status !== 200) throw new FetchFailure(`the answer is ${status}`);
    try {
      return JSON.parse(text);
    } catch {
      // the message of the parser quotes the answer
      throw new FetchFailure("the answer is not JSON");
    }
  }
}

function checkDuration(name: string, ms: number, max: number = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(ms) && ms > 0 && ms <= max) return ms;
  return refuseOption(name, `${ms} is not a duration in ms`);
}
