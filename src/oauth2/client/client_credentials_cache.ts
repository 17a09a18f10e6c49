/**
 * Tokens that a client has for itself, kept while they hold.
 *
 * @module
 */
import type { TokenSet } from "./token_set.ts";

/** How long before it is over a set is no longer used, in milliseconds. */
const EARLY_MS = 30_000;

/** How many sets are kept: one for each list of scopes, which an application has few of. */
const MAX_SETS = 100;

/** Keeps sets of tokens by what was asked for; all who ask for the same meanwhile share one request. */
export class ClientCredentialsCache {
  readonly #kept = new Map<string, Promise<TokenSet>>();
  readonly #now: () => number;

  /** Creates an empty keeper. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Gives a set that holds for half a minute yet, or asks for one. A failure is not kept. */
  async get(key: string, ask: () => Promise<TokenSet>): Promise<TokenSet> {
    const kept = this.#kept.get(key);
    const set = await kept?.catch(() => undefined);
    if (set && this.#holds(set)) return set;
    const isLeftToUs = this.#kept.get(key) === kept;
    return isLeftToUs ? await this.#keep(key, ask()) : await this.get(key, ask);
  }

  /** A server that says nothing of the time is asked each time. */
  #holds({ expiresAt }: TokenSet): boolean {
    return expiresAt !== undefined && expiresAt.getTime() - this.#now() > EARLY_MS;
  }

  #keep(key: string, asked: Promise<TokenSet>): Promise<TokenSet> {
    this.#kept.delete(key);
    this.#kept.set(key, asked);
    const [oldest = key] = this.#kept.keys();
    if (this.#kept.size > MAX_SETS) this.#kept.delete(oldest);
    return asked;
  }
}
