/**
 * Keeping tokens, and renewing each once.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { inspectedByToString } from "../../platform/secret.ts";
import type { TokenSet } from "./token_set.ts";

/**
 * Refresh tokens of which each was given for the one before. Only the newest may be sent: a provider
 * that sees another one twice takes it for stolen, and revokes them all (RFC 9700 §4.14.2).
 */
interface Chain {
  newest: string;
  /** What came with the newest, unless it has been forgotten. */
  set?: TokenSet | undefined;
  readonly superseded: Set<string>;
  refreshing?: Promise<TokenSet> | undefined;
  revoking?: Promise<void> | undefined;
  isRevoked: boolean;
}

/** How many superseded tokens of a chain are known: a caller is never later than so many refreshes. */
const MAX_SUPERSEDED = 100;

/** Options of a {@linkcode TokenCache}. */
export interface TokenCacheOptions {
  /** The most sets that are kept, the oldest of which then goes for a new one; unbounded by default. */
  readonly maxSets?: number;
  /** The time in milliseconds since 1970; the platform's by default. */
  readonly now?: () => number;
}

/**
 * Keeps sets of tokens by access token, and sees to it that a refresh token is sent once, whoever asks
 * for it. One may be shared by several clients of one provider, for other scopes or redirect URIs say.
 * It evicts nothing by itself unless it is given a bound: {@linkcode TokenCache.delete} what is no
 * longer used. Nothing that prints it shows a token.
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
  constructor({ maxSets = Infinity, now = Date.now }: TokenCacheOptions = {}) {
    if (!(maxSets >= 1)) throw new RangeError(`Cannot keep tokens: maxSets ${maxSets} is under 1`);
    this.#sets = new BoundedMap({ max: maxSets, onEvict: (_, set) => this.#release(set) });
    this.#withoutSet = new BoundedMap({
      max: maxSets,
      onEvict: (chain) => chain.set || this.#drop(chain),
    });
    this.#now = now;
  }

  /** How many sets there are. */
  get size(): number {
    return this.#sets.size;
  }

  /** Whether there is no set. */
  get isEmpty(): boolean {
    return this.#sets.size === 0;
  }

  /** Gives the set of an access token, even if it has expired. */
  cached(accessToken: string): TokenSet | undefined {
    return this.#sets.get(accessToken);
  }

  /** Gives the set of a refresh token; of a superseded one, the set that is newest by now. */
  byRefresh(refreshToken: string): TokenSet | undefined {
    return this.#chains.get(refreshToken)?.set;
  }

  /** Keeps a set. */
  store(set: TokenSet): void {
    this.#sets.set(set.accessToken, set);
    if (set.refreshToken === undefined) return;
    const chain = this.#chainOf(set.refreshToken);
    if (chain.newest === set.refreshToken) chain.set = set;
  }

  /**
   * Forgets a set and, if it is the newest of its refresh tokens, those with all that they superseded.
   *
   * @returns whether there was one
   */
  delete(accessToken: string): boolean {
    const set = this.#sets.get(accessToken);
    if (set) this.#release(set);
    return this.#sets.delete(accessToken);
  }

  /** Forgets all. */
  clear(): void {
    this.#sets.clear();
    for (const chain of new Set(this.#chains.values())) {
      chain.set = undefined;
      this.#drop(chain);
    }
  }

  /**
   * Gives a new set for a refresh token; `refresh()` of a client calls it. What `send` does with the
   * newest token of the chain is shared by all who ask meanwhile. Who comes later with a superseded
   * token is given the newest set, and nothing is sent unless that has expired. A failure is not kept.
   * While the token is being revoked, it waits.
   *
   * @throws {OAuth2Error} `Grant` if the token has been revoked meanwhile, or what `send` throws
   */
  async refresh(
    refreshToken: string,
    send: (newest: string) => Promise<TokenSet>,
  ): Promise<TokenSet> {
    let chain = this.#chainOf(refreshToken);
    while (chain.revoking) {
      await chain.revoking.catch(() => {}); // whoever revokes is told
      if (chain.isRevoked) throw revoked();
      chain = this.#chainOf(refreshToken);
    }
    if (chain.refreshing) return chain.refreshing;
    if (chain.set && chain.newest !== refreshToken && !chain.set.expiresWithin(0, this.#now())) {
      return chain.set;
    }
    return chain.refreshing = this.#refresh(chain, send);
  }

  /**
   * Has a token revoked; `revoke()` of a client calls it. Of a refresh token, `send` is given the
   * newest of its chain, once a refresh under way has ended; then all sets of the chain are forgotten.
   * Of an access token, its own set is. If `send` fails, nothing is.
   */
  revoke(token: string, send: (newest: string) => Promise<void>): Promise<void> {
    const chain = this.#chainOf(token);
    return chain.revoking ??= this.#revoke({ chain, token }, send);
  }

  /** Tells how many sets there are. */
  toString(): string {
    return `TokenCache { size: ${this.size} }`;
  }

  async #refresh(chain: Chain, send: (newest: string) => Promise<TokenSet>): Promise<TokenSet> {
    try {
      const set = await send(chain.newest);
      this.#advance(chain, set.refreshToken ?? chain.newest);
      chain.set = set;
      this.#sets.set(set.accessToken, set);
      return set;
    } finally {
      chain.refreshing = undefined;
      this.#dropIfUseless(chain);
    }
  }

  #advance(chain: Chain, refreshToken: string): void {
    if (refreshToken === chain.newest) return;
    chain.superseded.add(chain.newest);
    chain.superseded.delete(refreshToken);
    chain.newest = refreshToken;
    this.#chains.set(refreshToken, chain);
    const [oldest] = chain.superseded;
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
      await chain.refreshing?.catch(() => {}); // whoever refreshes is told
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

  /** Forgets a set as that of its chain, with the chain. */
  #release(set: TokenSet): void {
    const chain = this.#forget(set);
    if (chain) this.#drop(chain);
  }

  /** Forgets a set as that of its chain; returns the chain if the set was its newest. */
  #forget(set: TokenSet | undefined): Chain | undefined {
    const chain = set && this.#chains.get(set.refreshToken ?? "");
    if (!chain || chain.set !== set) return undefined;
    chain.set = undefined;
    return chain;
  }

  #chainOf(refreshToken: string): Chain {
    const known = this.#chains.get(refreshToken);
    if (known) return known;
    const chain: Chain = { newest: refreshToken, superseded: new Set(), isRevoked: false };
    this.#chains.set(refreshToken, chain);
    return chain;
  }

  /** A chain without a set still tells which tokens must not be sent, as far as there is room. */
  #dropIfUseless(chain: Chain): void {
    if (chain.set) return;
    if (chain.superseded.size === 0) return this.#drop(chain);
    this.#withoutSet.set(chain, chain);
  }

  /** What is under way keeps its chain: a second request would be sent beside it. */
  #drop(chain: Chain): void {
    if (chain.refreshing || chain.revoking) return;
    this.#withoutSet.delete(chain);
    for (const token of [chain.newest, ...chain.superseded]) this.#chains.delete(token);
  }
}

inspectedByToString(TokenCache);

function revoked(): OAuth2Error {
  const grant = { error: "invalid_grant", description: "It has been revoked" };
  return new OAuth2Error({ code: "Grant", grant }, "Cannot refresh token: it has been revoked");
}
