/**
 * The keys of an identity provider, kept and renewed.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { MAX_DELAY_MS } from "../../platform/time_limit.ts";
import { boundedFetch, type Fetch, FetchFailure } from "../../platform/bounded_fetch.ts";
import { endpointUrl } from "../ground/endpoint_url.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { KeySet, type KeySource, type VerifyOptions } from "./key_set.ts";
import { Pace, Refresh } from "./refresh.ts";
import type { SigningAlgorithm } from "./signing_algorithm.ts";

/** What a {@linkcode JwksCache} reaches the outside by. */
export interface JwksCacheOptions {
  /** What sends its requests; the platform's by default. */
  readonly fetch?: Fetch;
  /** The time in milliseconds since 1970; the platform's by default. */
  readonly now?: () => number;
  /** How long a fetch may take in milliseconds; 5 000 by default. */
  readonly timeoutMs?: number;
}

const REFRESH_WINDOW_MS = 15 * 60_000;
const MAX_STALE_MS = 24 * 60 * 60_000;
const MAX_BYTES = 1024 * 1024;
/** How long keys that are due are left as they are after a fetch that failed. */
const RETRY_MS = 10_000;

/**
 * Keeps the key set that a provider publishes (RFC 7517 §5). Keys are found without waiting. Once the
 * refresh window is over they keep working while the set is fetched anew in the background; while
 * that fails, up to the longest staleness. A key that is not known is looked for in a set fetched
 * after it was asked for: all who ask meanwhile share that fetch, and fetches are spaced (five at
 * once, then one in 1.25 s), so that a flood of forged tokens neither floods the provider nor hides a
 * new key.
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
  /** Five seconds of a flood, and what still waits at their end, take ten fetches at most. */
  readonly #pace = new Pace({ intervalMs: 1_250, burst: 5 });
  #refreshWindowMs = REFRESH_WINDOW_MS;
  #maxStaleMs = MAX_STALE_MS;
  #keys: KeySet = KeySet.EMPTY;
  #fetchedAtMs: number | undefined;
  #failedAtMs = -Infinity;
  #fetchCount = 0;
  #refresh: Refresh | undefined;

  /**
   * Creates an empty cache; the first key that is asked for fetches the set.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the URL is neither https nor http to this machine
   */
  constructor(
    url: string | URL,
    { fetch = globalThis.fetch, now = Date.now, timeoutMs = 5_000 }: JwksCacheOptions = {},
  ) {
    this.#url = endpointUrl("jwksUrl", url);
    this.#options = { fetch, now, timeoutMs };
    checkDuration("timeoutMs", timeoutMs, MAX_DELAY_MS);
  }

  /**
   * Gives an empty cache of the same set that is due to be fetched anew after so many milliseconds;
   * 15 minutes by default.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is no duration
   */
  withRefreshWindow(milliseconds: number): JwksCache {
    return this.#with({ refreshWindowMs: checkDuration("the refresh window", milliseconds) });
  }

  /**
   * Gives an empty cache of the same set whose keys work for so many milliseconds after they were last
   * fetched, though the provider be out of reach; 24 hours by default.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is no duration
   */
  withMaxStale(milliseconds: number): JwksCache {
    return this.#with({ maxStaleMs: checkDuration("the longest staleness", milliseconds) });
  }

  /** How many keys it has that can check signatures. */
  get size(): number {
    return this.#keys.size;
  }

  /** How long ago the keys were fetched, in milliseconds; `undefined` before they were. */
  get ageMs(): number | undefined {
    return this.#fetchedAtMs === undefined ? undefined : this.#options.now() - this.#fetchedAtMs;
  }

  /** How often the set was asked for, with or without success. */
  get fetchCount(): number {
    return this.#fetchCount;
  }

  /**
   * Fetches the set, or waits for the fetch that is under way.
   *
   * @throws {OAuth2Error} `JwksFetch` if that fails; the keys stay as they were
   */
  refresh(options: VerifyOptions = {}): Promise<void> {
    return this.#settled(this.#begin(options), options);
  }

  /** Gives the keys that are known of a `kid`. If they are due, they are fetched in the background. */
  find(kid: string, alg: SigningAlgorithm, options: VerifyOptions = {}): readonly CryptoKey[] {
    const ageMs = this.#knownAgeMs();
    if (ageMs === undefined || ageMs > this.#maxStaleMs) return KeySet.EMPTY.find(kid, alg);
    if (ageMs > this.#refreshWindowMs) this.#refreshInBackground(options);
    return this.#keys.find(kid, alg);
  }

  /**
   * Gives the keys of a `kid` that is not known.
   *
   * @throws {OAuth2Error} `UnknownKid` if a set fetched from now on does not have it, `JwksFetch` if
   * none could be fetched
   */
  async resolve(
    kid: string,
    alg: SigningAlgorithm,
    options: VerifyOptions = {},
  ): Promise<readonly CryptoKey[]> {
    const underWay = this.#begin(options);
    const mayBeOlder = underWay.isSent;
    await this.#settled(underWay, options);
    let keys = this.find(kid, alg, options);
    if (keys.length === 0 && mayBeOlder) {
      await this.refresh(options);
      keys = this.find(kid, alg, options);
    }
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

  /** A clock that was set back says nothing of the age: the keys are due, and age from now on. */
  #knownAgeMs(): number | undefined {
    const { ageMs } = this;
    if (ageMs === undefined || ageMs >= 0) return ageMs;
    this.#fetchedAtMs = this.#options.now() - this.#refreshWindowMs - 1;
    return this.ageMs;
  }

  #refreshInBackground(options: VerifyOptions): void {
    const nowMs = this.#options.now();
    const hasJustFailed = Math.abs(nowMs - this.#failedAtMs) < RETRY_MS;
    if (this.#underWay || hasJustFailed || this.#pace.waitMs(nowMs) > 0) return;
    this.#begin(options).done.catch(() => {}); // it is logged
  }

  /** Joins the fetch under way, or begins one. */
  #begin({ waitUntil }: VerifyOptions): Refresh {
    if (this.#underWay) return this.#underWay;
    const { now, timeoutMs } = this.#options;
    const fetch = () => this.#fetch().finally(() => this.#forget(refresh));
    const refresh = new Refresh(fetch, { waitMs: this.#pace.take(now()), timeoutMs, now });
    this.#refresh = refresh;
    waitUntil?.(refresh.done.catch(() => {})); // who waits for it is told
    return refresh;
  }

  /** Waits for a fetch. One that does not end when it should is done again. */
  async #settled(refresh: Refresh, options: VerifyOptions): Promise<void> {
    if (await refresh.ended()) return;
    this.#forget(refresh);
    await this.refresh(options);
  }

  get #underWay(): Refresh | undefined {
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
      this.#keys = await KeySet.read(json, this.#keys);
      this.#fetchedAtMs = this.#options.now();
      this.#failedAtMs = -Infinity;
      logger.debug("Fetched {keys} keys of {url}", { url, keys: this.#keys.size });
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
      throw new FetchFailure("the answer is no JSON"); // the parser's own words quote it
    }
  }
}

function checkDuration(name: string, ms: number, max: number = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(ms) && ms > 0 && ms <= max) return ms;
  throw new OAuth2Error(
    { code: "InvalidConfig" },
    `Cannot use ${name}: ${ms} is no duration in ms`,
  );
}
