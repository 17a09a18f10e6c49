/**
 * Where logins that are under way are kept.
 *
 * @module
 */

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
