/**
 * A cache of tokens, which sends each refresh token once.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";
import { hasEnded } from "../../platform/wait_until.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { inspectedByToString } from "../../platform/secret.ts";
import type { TokenSet } from "./token_set.ts";

/**
 * Refresh tokens, each issued for the previous one. Only the newest may be sent: a provider that
 * receives an older one again considers it stolen, and revokes them all (RFC 9700 §4.14.2). Only
 * callers that are late by up to {@linkcode GRACE_MS} are spared that.
 */
interface Chain {
  newest: string;
  /** The set of the newest token, unless it has been removed. */
  set?: TokenSet | undefined;
  /** When that was received, in milliseconds since 1970. */
  setAtMs: number;
  /** When each older token was superseded, in milliseconds since 1970. */
  readonly superseded: Map<string, number>;
  refreshing?: Promise<TokenSet> | undefined;
  revoking?: Promise<void> | undefined;
  isRevoked: boolean;
}

/** The most superseded tokens of a chain that are kept: no caller is later by more refreshes. */
const MAX_SUPERSEDED = 100;

/** How long a superseded token is one of a caller that is late, and not stolen, in milliseconds. */
const GRACE_MS = 60_000;

/** Options of a {@linkcode TokenCache}. */
export interface TokenCacheOptions {
  /** The most sets, 10 000 by default; a new one replaces the oldest. */
  readonly maxSets?: number;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
}

/**
 * Caches sets of tokens by access token, and sends each refresh token once for all callers. Several
 * clients of one provider can share a cache, for example with different scopes or redirect URIs.
 * Each refresh adds a set: the oldest are evicted, and {@linkcode TokenCache.delete} removes those
 * that are no longer used. Printing a cache does not show tokens.
 *
 * @example
 * ```ts
 * import { OAuth2Client, type OAuth2Options, TokenCache } from "@fw/fw/oauth2";
 *
 * function clientsOf(options: readonly OAuth2Options[]): readonly OAuth2Client[] {
 *   const cache = new TokenCache();
 *   return options.map((each) => new OAuth2Client(each).withCache(cache));
 * }
 * ```
 */
export class TokenCache {
  readonly #sets: BoundedMap<string, TokenSet>;
  /** Each chain under each of its refresh tokens. */
  readonly #chains = new Map<string, Chain>();
  readonly #withoutSet: BoundedMap<Chain, Chain>;
  readonly #now: () => number;

  /**
   * Creates an empty cache.
   *
   * @throws {RangeError} if `maxSets` is less than 1
   */
  constructor({ maxSets = 10_000, now = Date.now }: TokenCacheOptions = {}) {
    if (!(maxSets >= 1)) {
      throw new RangeError(`Cannot cache tokens: maxSets ${maxSets} is less than 1`);
    }
    this.#sets = new BoundedMap({ max: maxSets, onEvict: (_, set) => this.#release(set) });
    this.#withoutSet = new BoundedMap({
      max: maxSets,
      onEvict: (chain) => chain.set || this.#drop(chain),
    });
    this.#now = now;
  }

  /** The number of sets. */
  get size(): number {
    return this.#sets.size;
  }

  /** Whether there are no sets. */
  get isEmpty(): boolean {
    return this.#sets.size === 0;
  }

  /** Returns the set of an access token, even if it has expired. */
  cached(accessToken: string): TokenSet | undefined {
    return this.#sets.get(accessToken);
  }

  /** Returns the set of a refresh token; the newest, if it was superseded within a minute. */
  byRefresh(refreshToken: string): TokenSet | undefined {
    const chain = this.#chains.get(refreshToken);
    return chain && this.#isStale(chain, refreshToken) ? undefined : chain?.set;
  }

  /** Stores a set. */
  store(set: TokenSet): void {
    this.#sets.set(set.accessToken, set);
    if (set.refreshToken === undefined) return;
    const chain = this.#chainOf(set.refreshToken);
    if (chain.newest === set.refreshToken) this.#attach(chain, set);
  }

  /**
   * Removes a set and, if it is the newest of its chain of refresh tokens, that chain.
   *
   * @returns whether there was a set
   */
  delete(accessToken: string): boolean {
    const set = this.#sets.get(accessToken);
    if (set) this.#release(set);
    return this.#sets.delete(accessToken);
  }

  /** Removes everything. */
  clear(): void {
    this.#sets.clear();
    for (const chain of new Set(this.#chains.values())) {
      chain.set = undefined;
      this.#drop(chain);
    }
  }

  /**
   * Returns a new set for a refresh token; `OAuth2Client.refresh()` calls it. `send` receives the
   * newest token of the chain, and concurrent calls share its result. For a minute, a call with a
   * superseded token returns the newest set without a request, unless that has expired, or the
   * clock has been set back since. Later, `send` receives the superseded token: it may be stolen,
   * and the provider must see it. A failure is not cached. A pending revocation is awaited.
   *
   * @throws {OAuth2Error} `Grant` if the token has been revoked by then, or as `send` does
   */
  async refresh(
    refreshToken: string,
    send: (newest: string) => Promise<TokenSet>,
  ): Promise<TokenSet> {
    let chain = this.#chainToRefresh(refreshToken);
    while (chain.revoking) {
      const { revoking } = chain;
      // the caller of revoke() receives the error
      const isLost = !await hasEnded(revoking).catch(() => true);
      if (isLost && chain.revoking === revoking) chain.revoking = undefined;
      if (chain.isRevoked) throw revoked();
      chain = this.#chainToRefresh(refreshToken);
    }
    while (chain.refreshing) {
      const { refreshing } = chain;
      if (await hasEnded(refreshing)) return await refreshing;
      if (chain.refreshing === refreshing) chain.refreshing = undefined; // the next one is shared
    }
    const nowMs = this.#now();
    // a set from before the clock was set back expires by the wrong time
    const isValid = nowMs >= chain.setAtMs && !chain.set?.expiresWithin(0, nowMs);
    if (chain.set && isValid && chain.newest !== refreshToken) return chain.set;
    return chain.refreshing = this.#refresh(chain, send);
  }

  /**
   * Revokes a token; `OAuth2Client.revoke()` calls it. For a refresh token, `send` receives the
   * newest of its chain, after a pending refresh has ended; then all sets of the chain are removed.
   * For an access token, its set is removed. If `send` fails, nothing is removed.
   */
  async revoke(token: string, send: (newest: string) => Promise<void>): Promise<void> {
    const chain = this.#chainOf(token);
    while (chain.revoking) {
      const { revoking } = chain;
      if (await hasEnded(revoking)) return;
      if (chain.revoking === revoking) chain.revoking = undefined;
    }
    await (chain.revoking = this.#revoke({ chain, token }, send));
  }

  /** Returns the cache for printing: its size. */
  toString(): string {
    return `TokenCache { size: ${this.size} }`;
  }

  async #refresh(chain: Chain, send: (newest: string) => Promise<TokenSet>): Promise<TokenSet> {
    try {
      const set = await send(chain.newest);
      this.#advance(chain, set.refreshToken ?? chain.newest);
      this.#attach(chain, set);
      this.#sets.set(set.accessToken, set);
      return set;
    } finally {
      chain.refreshing = undefined;
      this.#dropIfUseless(chain);
    }
  }

  #attach(chain: Chain, set: TokenSet): void {
    chain.set = set;
    chain.setAtMs = this.#now();
  }

  #advance(chain: Chain, refreshToken: string): void {
    if (refreshToken === chain.newest) return;
    chain.superseded.set(chain.newest, this.#now());
    chain.superseded.delete(refreshToken);
    chain.newest = refreshToken;
    this.#chains.set(refreshToken, chain);
    const [oldest] = chain.superseded.keys();
    if (oldest !== undefined && chain.superseded.size > MAX_SUPERSEDED) {
      chain.superseded.delete(oldest);
      this.#chains.delete(oldest);
    }
  }

  async #revoke(
    { chain, token }: { readonly chain: Chain; readonly token: string },
    send: (newest: string) => Promise<void>,
  ): Promise<void> {
    try {
      const { refreshing } = chain;
      if (refreshing) await hasEnded(refreshing).catch(() => {}); // the caller of refresh() receives it
      await send(chain.newest);
      chain.isRevoked = true;
      this.#forgetRevoked(chain, token);
    } finally {
      chain.revoking = undefined;
      if (chain.isRevoked) this.#drop(chain);
      else this.#dropIfUseless(chain);
    }
  }

  #forgetRevoked(chain: Chain, token: string): void {
    const rest = this.#forget(this.#sets.get(token));
    if (rest) this.#dropIfUseless(rest);
    this.#sets.delete(token);
    chain.set = undefined;
    for (const [accessToken, { refreshToken }] of this.#sets) {
      if (refreshToken !== undefined && this.#chains.get(refreshToken) === chain) {
        this.#sets.delete(accessToken);
      }
    }
  }

  /** Removes the chain of a set, if the set is its newest. */
  #release(set: TokenSet): void {
    const chain = this.#forget(set);
    if (chain) this.#drop(chain);
  }

  /** Detaches a set from its chain; returns the chain if the set was its newest. */
  #forget(set: TokenSet | undefined): Chain | undefined {
    const chain = set && this.#chains.get(set.refreshToken ?? "");
    if (!chain || chain.set !== set) return undefined;
    chain.set = undefined;
    return chain;
  }

  /** The provider revokes the chain of a token that is sent again, if it was stolen. */
  #chainToRefresh(refreshToken: string): Chain {
    const chain = this.#chainOf(refreshToken);
    if (!this.#isStale(chain, refreshToken)) return chain;
    chain.superseded.delete(refreshToken);
    this.#chains.delete(refreshToken);
    return this.#chainOf(refreshToken);
  }

  #isStale(chain: Chain, refreshToken: string): boolean {
    const supersededAtMs = chain.superseded.get(refreshToken) ?? Infinity;
    return this.#now() - supersededAtMs >= GRACE_MS;
  }

  #chainOf(refreshToken: string): Chain {
    const known = this.#chains.get(refreshToken);
    if (known) return known;
    const chain: Chain = {
      newest: refreshToken,
      setAtMs: 0,
      superseded: new Map(),
      isRevoked: false,
    };
    this.#chains.set(refreshToken, chain);
    return chain;
  }

  /** Keeps a chain without a set, while there is room: its superseded tokens must not be sent. */
  #dropIfUseless(chain: Chain): void {
    if (chain.set) return;
    if (chain.superseded.size === 0) return this.#drop(chain);
    this.#withoutSet.set(chain, chain);
  }

  /**
   * Removes a chain, unless a request for it is pending: a second one would be sent at
   * the same time.
   */
  #drop(chain: Chain): void {
    if (chain.refreshing || chain.revoking) return;
    this.#withoutSet.delete(chain);
    for (const token of [chain.newest, ...chain.superseded.keys()]) this.#chains.delete(token);
  }
}

inspectedByToString(TokenCache);

function revoked(): OAuth2Error {
  const grant = { error: "invalid_grant", description: "It has been revoked" };
  return new OAuth2Error({ code: "Grant", grant }, "Cannot refresh token: it has been revoked");
}
