/**
 * Options of a development identity provider.
 *
 * @module
 */

/** How tokens are signed (RFC 7518 §3.1, RFC 8037 §3.1). */
export type DevelopmentSigningAlgorithm = "EdDSA" | "ES256" | "RS256" | "PS256";

/** An application that can request tokens. */
export interface DevelopmentClient {
  /** The id: visible ASCII characters. */
  readonly clientId: string;
  /** The secret; a client without one is public (RFC 6749 §2.1). */
  readonly clientSecret?: string;
  /** The name on the login page; default the id. */
  readonly name?: string;
  /**
   * The redirect URIs, compared character by character (RFC 9700 §4.1.3): http, https or a
   * private-use scheme with a period (RFC 8252 §7.1). Default none, enough for client credentials.
   */
  readonly redirectUris?: readonly string[];
}

/** A user who can log in, without a password. */
export interface DevelopmentUser {
  /** The `sub` of the user's tokens, 1 to 255 characters. */
  readonly subject: string;
  /** The name on the button and, with the scope `profile`, in the claims. */
  readonly name: string;
  /** The address on the button and, with the scope `email`, in the claims. */
  readonly email: string;
  /** The claim `roles`; default none. */
  readonly roles?: readonly string[];
  /**
   * Further claims of all tokens, such as `tenant_id`. They cannot replace those of the protocol.
   */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Options of `DevelopmentIdentityProvider.start()`. */
export interface DevelopmentIdentityProviderOptions {
  /** The port; default 0, a free one. */
  readonly port?: number;
  /** The address to listen on; default `127.0.0.1`, which no other machine can reach. */
  readonly hostname?: string;
  /** The applications; default none, enough for `issueToken()`. */
  readonly clients?: readonly DevelopmentClient[];
  /** The users; default {@linkcode DEFAULT_USERS}: `alice`, who has the role `admin`, and `bob`. */
  readonly users?: readonly DevelopmentUser[];
  /**
   * The scopes that users can grant to clients in addition to `openid`, `profile`, `email` and
   * `offline_access`; other requested scopes are ignored (RFC 6749 §3.3). Default none.
   */
  readonly scopes?: readonly string[];
  /** The `aud` of access tokens; default `development`. */
  readonly audience?: string;
  /** The lifetime of access tokens and ID tokens in seconds; default 3600. */
  readonly accessTokenSeconds?: number;
  /** How tokens are signed; default `EdDSA`. */
  readonly algorithm?: DevelopmentSigningAlgorithm;
  /** Returns the time in milliseconds; default the clock of the machine. */
  readonly now?: () => number;
}

/** Options of `issueToken()`. */
export interface IssueTokenOptions {
  /** The `sub`, of a user or any other. */
  readonly subject: string;
  /** The `aud`; default that of the provider. */
  readonly audience?: string | readonly string[];
  /** The scopes, separated by spaces; default none. */
  readonly scope?: string;
  /** The `client_id`; default that of the first client, else `development`. */
  readonly clientId?: string;
  /** The claim `roles`; default that of the user of this subject. */
  readonly roles?: readonly string[];
  /**
   * Further claims, which replace any other, for tests of invalid tokens; `undefined` removes one.
   */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The lifetime in seconds; default that of the provider. A token with -120 has expired. */
  readonly expiresInSeconds?: number;
}

/** Options of `rotateKeys()`. */
export interface RotateKeysOptions {
  /**
   * Whether the last three keys stay published; default true. A verifier sees the new keys when it
   * fetches them again: `JwksCache.refresh()`.
   */
  readonly keepPrevious?: boolean;
}

/** The users of a provider whose options name none. */
export const DEFAULT_USERS: readonly DevelopmentUser[] = [
  { subject: "alice", name: "Alice", email: "alice@example.com", roles: ["admin"] },
  { subject: "bob", name: "Bob", email: "bob@example.com" },
];
