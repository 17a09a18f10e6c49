/**
 * Where pending logins are kept, and a store in the memory of the process.
 *
 * @module
 */
import { BoundedMap } from "../../platform/bounded_map.ts";

/** A login that is under way: what the callback needs, and no browser may see. All of it is text. */
export interface PendingLogin {
  /** The PKCE verifier. */
  readonly verifier: string;
  /** The nonce that the id_token has to carry, where one is expected. */
  readonly nonce?: string;
  /** The path on this site to go to afterwards. */
  readonly returnTo: string;
  /** The digest of the cookie of the browser that has begun it. */
  readonly browser: string;
  /** Which client has begun it: no other, though it share the store, finishes it (RFC 9700 §4.4.2.2). */
  readonly client: string;
}

/** How a login is kept. */
export interface SaveLoginOptions {
  /** For how many milliseconds. */
  readonly ttlMs: number;
}

/** Keeps logins that are under way, by their `state`. */
export interface LoginStore {
  /** Keeps a login for its time. */
  save(state: string, login: PendingLogin, options: SaveLoginOptions): Promise<void>;
  /** Gives a login and forgets it at once: of two that ask, one gets it. */
  take(state: string): Promise<PendingLogin | undefined>;
}

/** Options of a {@linkcode MemoryLoginStore}. */
export interface MemoryLoginStoreOptions {
  /** The most logins that are kept, 10 000 by default; the oldest goes for a new one. */
  readonly maxLogins?: number;
  /** The time in milliseconds since 1970; the platform's by default. */
  readonly now?: () => number;
}

/** A store for applications of one process. */
export class MemoryLoginStore implements LoginStore {
  readonly #logins: BoundedMap<string, PendingLogin>;
  readonly #now: () => number;

  /**
   * Creates an empty store.
   *
   * @throws {RangeError} if `maxLogins` is not a positive integer
   */
  constructor({ maxLogins = 10_000, now = Date.now }: MemoryLoginStoreOptions = {}) {
    if (!Number.isSafeInteger(maxLogins) || maxLogins < 1) {
      throw new RangeError(`Cannot keep logins: maxLogins ${maxLogins} is not a positive integer`);
    }
    this.#logins = new BoundedMap({ max: maxLogins, now });
    this.#now = now;
  }

  /** How many logins it keeps, those included that are over. */
  get size(): number {
    return this.#logins.size;
  }

  /** Keeps a login for so many milliseconds. */
  save(state: string, login: PendingLogin, { ttlMs }: SaveLoginOptions): Promise<void> {
    this.#logins.set(state, login, { expiresAtMs: this.#now() + ttlMs });
    return Promise.resolve();
  }

  /** Gives a login and forgets it. */
  take(state: string): Promise<PendingLogin | undefined> {
    const login = this.#logins.get(state);
    this.#logins.delete(state);
    return Promise.resolve(login);
  }
}
