/**
 * Where pending logins are kept, and a store in the memory of the process.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";
import type { RequestedClaims } from "./requested_claims.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";

/** The data of a pending login, which the callback needs and no browser may see. */
export interface PendingLogin extends RequestedClaims {
  /** The PKCE verifier. */
  readonly verifier: string;
  /** The nonce that the id_token must have, if an id_token is expected. */
  readonly nonce?: string;
  /** The path on this site to return to. */
  readonly returnTo: string;
  /**
   * The client that began the login; no other client of the store can finish it (RFC
   * 9700 §4.4.2.2).
   */
  readonly client: string;
}

/** Options of {@linkcode LoginStore.save}. */
export interface SaveLoginOptions {
  /** How long the login is kept, in milliseconds. */
  readonly ttlMs: number;
}

/**
 * Stores pending logins. A key has 43 characters of base64url, a digest of the `state` and of the
 * cookie of the browser.
 */
export interface LoginStore {
  /** Stores a login for `ttlMs`. */
  save(key: string, login: PendingLogin, options: SaveLoginOptions): Promise<void>;
  /** Returns a login and removes it atomically: only one of two calls receives it. */
  take(key: string): Promise<PendingLogin | undefined>;
}

/** Options of a {@linkcode MemoryLoginStore}. */
export interface MemoryLoginStoreOptions {
  /** The most logins, 10 000 by default; a new one replaces the oldest. */
  readonly maxLogins?: number;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
}

/** A store in memory, for applications of one process. */
export class MemoryLoginStore implements LoginStore {
  readonly #logins: BoundedMap<string, PendingLogin>;
  readonly #now: () => number;

  /**
   * Creates an empty store.
   *
   * @throws {RangeError} if `maxLogins` is not a positive integer
   * @throws {TypeError} if an option is unknown
   */
  constructor(options: MemoryLoginStoreOptions = {}) {
    checkNames(options, { known: ["maxLogins", "now"], refuse: refusing("keep logins") });
    const { maxLogins = 10_000, now = Date.now } = options;
    if (!Number.isSafeInteger(maxLogins) || maxLogins < 1) {
      throw new RangeError(`Cannot keep logins: maxLogins ${maxLogins} is not a positive integer`);
    }
    this.#logins = new BoundedMap({ max: maxLogins, now });
    this.#now = now;
  }

  /** The number of stored logins, including expired ones. */
  get size(): number {
    return this.#logins.size;
  }

  /** Stores a login for `ttlMs`. */
  save(key: string, login: PendingLogin, { ttlMs }: SaveLoginOptions): Promise<void> {
    this.#logins.set(key, login, { expiresAtMs: this.#now() + ttlMs });
    return Promise.resolve();
  }

  /** Returns a login and removes it. */
  take(key: string): Promise<PendingLogin | undefined> {
    const login = this.#logins.get(key);
    this.#logins.delete(key);
    return Promise.resolve(login);
  }
}
