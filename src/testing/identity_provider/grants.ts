/**
 * The codes, refresh tokens and access tokens that have been issued.
 *
 * @module
 */
import { inject } from "../../core/module/container.ts";
import { BoundedMap } from "../../platform/bounded_map.ts";
import type {
  AccessToken,
  CodeBinding,
  CodeRedemption,
  Grant,
  RefreshTokenRedemption,
} from "./grant.ts";
import { OAuthRefusal } from "./oauth_refusal.ts";
import { digest, randomText } from "./secret_text.ts";
import { Settings } from "./settings.ts";

interface OneUse {
  readonly grant: Grant;
  used: boolean;
}

const CODE_MS = 60_000;
const REFRESH_TOKEN_MS = 14 * 24 * 3_600_000;

/**
 * Remembers what has been issued, 10 000 of each kind at most. Only what it remembers is good, so what
 * it has to forget is refused.
 */
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

  /**
   * Redeems a code, which is used up by it in any case. A second use revokes the tokens that came of
   * the first (RFC 6749 §4.1.2).
   *
   * @throws {OAuthRefusal} `invalid_grant`
   */
  async redeemCode(
    code: string,
    { clientId, redirectUri, codeVerifier }: CodeRedemption,
  ): Promise<Grant> {
    const found = useOnce(this.#codes.get(code), "code");
    this.#codes.set(code, found, this.#within(REFRESH_TOKEN_MS)); // so that a second use is known as one
    if (found.grant.clientId !== clientId) refuse("The code is another client's");
    if (found.redirectUri !== redirectUri) refuse("The redirect_uri is another than the code's");
    if (found.codeChallenge !== await digest(codeVerifier, "SHA-256")) {
      refuse("The code_verifier does not fit the code's challenge");
    }
    return found.grant;
  }

  /** Issues a refresh token for one use within 14 days. */
  issueRefreshToken(grant: Grant): string {
    const token = randomText();
    this.#refreshTokens.set(token, { grant, used: false }, this.#within(REFRESH_TOKEN_MS));
    return token;
  }

  /**
   * Redeems a refresh token, which is used up by it. A second use revokes all tokens of its grant
   * (RFC 9700 §4.14.2).
   *
   * @throws {OAuthRefusal} `invalid_grant`; `invalid_scope` if a scope is asked for that was not granted
   */
  redeemRefreshToken(token: string, { clientId, scope = "" }: RefreshTokenRedemption): Grant {
    const found = this.#refreshTokens.get(token);
    if (found && found.grant.clientId !== clientId) refuse("The refresh token is another client's");
    if (found?.grant.revoked) refuse("The refresh token is revoked");
    const granted = found?.grant.scope.split(" ");
    if (granted && scope && !scope.split(" ").every((each) => granted.includes(each))) {
      throw new OAuthRefusal("invalid_scope", "The scope is more than was granted");
    }
    return useOnce(found, "refresh token").grant;
  }

  /** Remembers an access token for its life. */
  rememberAccessToken(token: string, issued: AccessToken, lifeSeconds: number): void {
    this.#accessTokens.set(token, issued, this.#within(lifeSeconds * 1000));
  }

  /** Gives what is known of an access token that is good. */
  findAccessToken(token: string): AccessToken | undefined {
    const found = this.#accessTokens.get(token);
    return found?.grant.revoked ? undefined : found;
  }

  /**
   * Revokes a token of a client: with a refresh token all of its grant, with an access token that one
   * (RFC 7009 §2.1). One that is unknown is none any more (§2.2).
   *
   * @throws {OAuthRefusal} `invalid_grant` if it is another client's
   */
  revoke(token: string, clientId: string): void {
    const refreshToken = this.#refreshTokens.get(token);
    const accessToken = this.#accessTokens.get(token);
    const grant = (refreshToken ?? accessToken)?.grant;
    if (grant && grant.clientId !== clientId) refuse("The token is another client's");
    if (refreshToken) refreshToken.grant.revoked = true;
    this.#accessTokens.delete(token);
  }

  #within(lifeMs: number): { readonly expiresAtMs: number } {
    return { expiresAtMs: this.#now() + lifeMs };
  }
}

function useOnce<T extends OneUse>(found: T | undefined, what: string): T {
  if (found === undefined) return refuse(`The ${what} is unknown or has expired`);
  if (found.used) {
    found.grant.revoked = true;
    refuse(`The ${what} has been used before; what came of it is revoked`);
  }
  found.used = true;
  return found;
}

function refuse(why: string): never {
  throw new OAuthRefusal("invalid_grant", why);
}
