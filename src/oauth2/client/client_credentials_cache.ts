/**
 * Tokens that a client has for itself, kept while they hold.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";
import type { TokenSet } from "./token_set.ts";

/** A request, and what came of it. */
interface Entry {
  readonly asked: Promise<TokenSet>;
  /** The set, once it is there. */
  set?: TokenSet;
}

/** How long before it expires a set is no longer used, in milliseconds. */
const EARLY_MS = 30_000;

/** How many sets are kept: one for each list of scopes, which an application has few of. */
const MAX_SETS = 100;

/** Keeps sets of tokens by what was asked for; all who ask for the same meanwhile share one request. */
export class ClientCredentialsCache {
  readonly #entries = new BoundedMap<string, Entry>({ max: MAX_SETS });
  readonly #now: () => number;

  /** Creates an empty cache. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Gives a set that holds for half a minute yet, or what becomes of asking for one. */
  get(key: string, ask: () => Promise<TokenSet>): Promise<TokenSet> {
    const entry = this.#entries.get(key);
    if (entry && (!entry.set || this.#holds(entry.set))) return entry.asked;
    return this.#keep(key, ask());
  }

  /** Forgets an access token. */
  forget(accessToken: string): void {
    for (const [key, { set }] of this.#entries) {
      if (set?.accessToken === accessToken) this.#entries.delete(key);
    }
  }

  /** A server that says nothing of the time is asked each time. */
  #holds(set: TokenSet): boolean {
    return set.expiresAt !== undefined && !set.expiresWithin(EARLY_MS, this.#now());
  }

  #keep(key: string, asked: Promise<TokenSet>): Promise<TokenSet> {
    const entry: Entry = { asked };
    this.#entries.set(key, entry);
    asked.then(
      (set) => entry.set = set,
      () => this.#entries.get(key) === entry && this.#entries.delete(key),
    );
    return asked;
  }
}
