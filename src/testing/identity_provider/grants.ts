/**
 * The codes, refresh tokens and access tokens that have been issued.
 *
 * @module
 */
import { base64url } from "jose";
import { inject } from "../../core/module/container.ts";
import { BoundedMap } from "../../platform/bounded_map.ts";
import { OAuthRefusal } from "./oauth_refusal.ts";
import type { DevelopmentUser } from "./options.ts";
import { Settings } from "./settings.ts";

/** What a client was granted by one login, or by one request without a user. */
export interface Grant {
  readonly clientId: string;
  /** The user who logged in. */
  readonly user: DevelopmentUser | undefined;
  /** The scopes, separated by spaces. */
  readonly scope: string;
  readonly nonce?: string | undefined;
  /** When the user logged in, in seconds. */
  readonly authTime?: number;
  /** Whether its tokens are revoked. */
  revoked: boolean;
}

/** What a code is bound to (RFC 6749 §4.1.3, RFC 7636 §4.4). */
interface CodeBinding {
  readonly redirectUri: string;
  readonly codeChallenge: string;
}

interface AccessToken {
  readonly grant: Grant;
  readonly scope: string;
  readonly subject: string;
}

interface OneUse {
  readonly grant: Grant;
  used: boolean;
}

const CODE_MS = 60_000;
const REFRESH_TOKEN_MS = 14 * 24 * 3_600_000;

/** Keeps what has been issued, at most 10 000 of each kind. What it no longer keeps is refused. */
export class Grants {
  readonly #now = inject(Settings).now;
  readonly #bounds = { max: 10_000, now: this.#now };
  readonly #codes = new BoundedMap<string, OneUse & CodeBinding>(this.#bounds);
  readonly #refreshTokens = new BoundedMap<string, OneUse>(this.#bounds);
  readonly #accessTokens = new BoundedMap<string, AccessToken>(this.#bounds);

  /** Issues a code for one use within 60 s. */
  issueCode(grant: Grant, binding: CodeBinding): string {
    const code = randomText();
    this.#codes.set(code, { grant, ...binding, used: false }, this.#within(CODE_MS));
    return code;
  }

  /** Redeems a code, even if this fails. A second use revokes its tokens (RFC 6749 §4.1.2). */
  async redeemCode(
    code: string,
    { clientId, redirectUri, codeVerifier }: {
      readonly clientId: string;
      readonly redirectUri: string;
      readonly codeVerifier: string;
    },
  ): Promise<Grant> {
    const found = useOnce(this.#codes.get(code), "code");
    this.#codes.set(code, found, this.#within(REFRESH_TOKEN_MS)); // to recognize a second use
    if (found.grant.clientId !== clientId) refuse("The code is of another client");
    if (found.redirectUri !== redirectUri) refuse("The redirect_uri is not that of the code");
    if (found.codeChallenge !== await digest(codeVerifier, "SHA-256")) {
      refuse("The code_verifier does not match the challenge of the code");
    }
    return found.grant;
  }

  /** Issues a refresh token for one use within 14 days. */
  issueRefreshToken(grant: Grant): string {
    const token = randomText();
    this.#refreshTokens.set(token, { grant, used: false }, this.#within(REFRESH_TOKEN_MS));
    return token;
  }

  /** Redeems a refresh token. A second use revokes all tokens of its grant (RFC 9700 §4.14.2). */
  redeemRefreshToken(
    token: string,
    { clientId, scope = "" }: { readonly clientId: string; readonly scope?: string | undefined },
  ): Grant {
    const found = this.#refreshTokens.get(token);
    if (found && found.grant.clientId !== clientId) {
      refuse("The refresh token is of another client");
    }
    if (found?.grant.revoked) refuse("The refresh token is revoked");
    const granted = found?.grant.scope.split(" ");
    if (granted && scope && !scope.split(" ").every((each) => granted.includes(each))) {
      throw new OAuthRefusal("invalid_scope", "The scope is more than was granted");
    }
    return useOnce(found, "refresh token").grant;
  }

  /** Keeps an access token for its lifetime. */
  addAccessToken(token: string, issued: AccessToken & { readonly lifeSeconds: number }): void {
    this.#accessTokens.set(token, issued, this.#within(issued.lifeSeconds * 1000));
  }

  /** Returns a valid access token. */
  findAccessToken(token: string): AccessToken | undefined {
    const found = this.#accessTokens.get(token);
    return found?.grant.revoked ? undefined : found;
  }

  /**
   * Revokes a token; of a refresh token, all of its grant (RFC 7009 §2.1). It can be
   * unknown (§2.2).
   */
  revoke(token: string, clientId: string): void {
    const refreshToken = this.#refreshTokens.get(token);
    const accessToken = this.#accessTokens.get(token);
    const grant = (refreshToken ?? accessToken)?.grant;
    if (grant && grant.clientId !== clientId) refuse("The token is of another client");
    if (refreshToken) refreshToken.grant.revoked = true;
    this.#accessTokens.delete(token);
  }

  #within(lifeMs: number): { readonly expiresAtMs: number } {
    return { expiresAtMs: this.#now() + lifeMs };
  }
}

/** Returns a digest of ASCII text in base64url; with `half`, its first half. */
export async function digest(
  text: string,
  algorithm: "SHA-256" | "SHA-512",
  { half = false }: { readonly half?: boolean } = {},
): Promise<string> {
  const data = new TextEncoder().encode(text);
  const bytes = new Uint8Array(await crypto.subtle.digest(algorithm, data));
  return base64url.encode(half ? bytes.subarray(0, bytes.length / 2) : bytes);
}

/** Returns 256 random bits in base64url. */
function randomText(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}

function useOnce<T extends OneUse>(found: T | undefined, what: string): T {
  if (found === undefined) return refuse(`The ${what} is unknown or has expired`);
  if (found.used) {
    found.grant.revoked = true;
    refuse(`The ${what} has been used before; its tokens are revoked`);
  }
  found.used = true;
  return found;
}

function refuse(why: string): never {
  throw new OAuthRefusal("invalid_grant", why);
}
