/**
 * What a development identity provider is started with.
 *
 * @module
 */

/** How tokens are signed (RFC 7518 §3.1, RFC 8037 §3.1). */
export type DevelopmentSigningAlgorithm = "EdDSA" | "ES256" | "RS256" | "PS256";

/** An application that may ask for tokens. */
export interface DevelopmentClient {
  /** Its id: visible ASCII characters. */
  readonly clientId: string;
  /** Its secret; a client without one is public (RFC 6749 §2.1). */
  readonly clientSecret?: string;
  /** What the login page calls it; default its id. */
  readonly name?: string;
  /**
   * Where it may be called back, compared character by character (RFC 9700 §4.1.3): http, https or a
   * private-use scheme with a period (RFC 8252 §7.1). Default none, enough for client credentials.
   */
  readonly redirectUris?: readonly string[];
}

/** Somebody who can log in: nobody asks for a password. */
export interface DevelopmentUser {
  /** The `sub` of the user's tokens, 1 to 255 characters. */
  readonly subject: string;
  /** The name on the button and, with the scope `profile`, in the claims. */
  readonly name: string;
  /** The address on the button and, with the scope `email`, in the claims. */
  readonly email: string;
  /** The claim `roles`; default none. */
  readonly roles?: readonly string[];
  /** Further claims of all tokens, such as `tenant_id`; they cannot replace those of the protocol. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Options of `DevelopmentIdentityProvider.start()`. */
export interface DevelopmentIdentityProviderOptions {
  /** The port; default 0, any that is free. */
  readonly port?: number;
  /** The address it listens on; default `127.0.0.1`, which no other machine can reach. */
  readonly hostname?: string;
  /** The applications; default none, enough for `issueToken()`. */
  readonly clients?: readonly DevelopmentClient[];
  /** Who can log in; default {@linkcode DEFAULT_USERS}: `alice`, who has the role `admin`, and `bob`. */
  readonly users?: readonly DevelopmentUser[];
  /**
   * The scopes that users may grant to clients beside `openid`, `profile`, `email` and
   * `offline_access`; others that are asked for are left out (RFC 6749 §3.3). Default none.
   */
  readonly scopes?: readonly string[];
  /** The `aud` of access tokens; default `development`. */
  readonly audience?: string;
  /** The life of access tokens and ID tokens in seconds; default 3600. */
  readonly accessTokenSeconds?: number;
  /** How tokens are signed; default `EdDSA`. */
  readonly algorithm?: DevelopmentSigningAlgorithm;
  /** The time in milliseconds; default that of the machine. */
  readonly now?: () => number;
}

/** What `issueToken()` takes. */
export interface IssueTokenOptions {
  /** The `sub`, of a user or of anybody. */
  readonly subject: string;
  /** The `aud`; default that of the provider. */
  readonly audience?: string | readonly string[];
  /** The scopes, apart by a space; default none. */
  readonly scope?: string;
  /** The `client_id`; default that of the first client, else `development`. */
  readonly clientId?: string;
  /** The claim `roles`; default that of the user of this subject. */
  readonly roles?: readonly string[];
  /**
   * Further claims. They take the place of any other, so that tests can have tokens that are wrong; one
   * that is `undefined` is left out.
   */
  readonly claims?: Readonly<Record<string, unknown>>;
  /**
   * The life in seconds; default that of the provider. For a token that has expired, give less than the
   * verifier's leeway: -120.
   */
  readonly expiresInSeconds?: number;
}

/** What `rotateKeys()` takes. */
export interface RotateKeysOptions {
  /**
   * Whether the last three keys before it stay published; default true. A verifier learns of it at its
   * next fetch: `JwksCache.refresh()`.
   */
  readonly keepPrevious?: boolean;
}

/** Who can log in where the options name nobody. */
export const DEFAULT_USERS: readonly DevelopmentUser[] = [
  { subject: "alice", name: "Alice", email: "alice@example.com", roles: ["admin"] },
  { subject: "bob", name: "Bob", email: "bob@example.com" },
];
