/**
 * What clients are granted, and what they show for it.
 *
 * @module
 */
import type { DevelopmentUser } from "./options.ts";

/** What a client has been granted: all tokens that come of one login, or of one request without. */
export interface Grant {
  /** The client. */
  readonly clientId: string;
  /** Who has logged in. */
  readonly user: DevelopmentUser | undefined;
  /** The scopes, apart by a space. */
  readonly scope: string;
  /** The `nonce` of the request. */
  readonly nonce?: string | undefined;
  /** When the user logged in, in seconds. */
  readonly authTime?: number;
  /** Whether its tokens are still good. */
  revoked: boolean;
}

/** What a code is bound to (RFC 6749 §4.1.3, RFC 7636 §4.4). */
export interface CodeBinding {
  /** Where it is sent. */
  readonly redirectUri: string;
  /** The S256 challenge. */
  readonly codeChallenge: string;
}

/** What comes with a code to redeem it. */
export interface CodeRedemption {
  /** The client that has been authenticated. */
  readonly clientId: string;
  /** The redirect URI of the authorization request. */
  readonly redirectUri: string;
  /** The PKCE verifier. */
  readonly codeVerifier: string;
}

/** What comes with a refresh token to redeem it. */
export interface RefreshTokenRedemption {
  /** The client that has been authenticated. */
  readonly clientId: string;
  /** The scopes that are asked for, apart by a space; default those of the grant. */
  readonly scope?: string | undefined;
}

/** An access token that has been issued. */
export interface AccessToken {
  /** What it came of. */
  readonly grant: Grant;
  /** Its scopes, apart by a space. */
  readonly scope: string;
  /** Its subject. */
  readonly subject: string;
}
