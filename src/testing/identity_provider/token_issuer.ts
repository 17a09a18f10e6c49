/**
 * Making tokens.
 *
 * @module
 */
import { inject } from "../../core/module/container.ts";
import type { Grant } from "./grant.ts";
import { Grants } from "./grants.ts";
import type { DevelopmentUser } from "./options.ts";
import { digest } from "./secret_text.ts";
import { Settings } from "./settings.ts";
import { SigningKeys } from "./signing_keys.ts";
import { claimsOf } from "./user_claims.ts";

/** What is particular to an access token. */
export interface AccessTokenOptions {
  /** Its `sub`. */
  readonly subject: string;
  /** Its `aud`; default that of the options. */
  readonly audience?: string | readonly string[] | undefined;
  /** Its scopes, apart by a space; without them, it has no such claim. */
  readonly scope?: string | undefined;
  /** The claim `roles`. */
  readonly roles?: readonly string[] | undefined;
  /** Claims beside those of the protocol. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** Claims in place of any. */
  readonly override?: Readonly<Record<string, unknown>> | undefined;
  /** Its life; default that of the options. */
  readonly expiresInSeconds?: number | undefined;
}

/** Makes access tokens and ID tokens. */
export class TokenIssuer {
  readonly #settings = inject(Settings);
  readonly #keys = inject(SigningKeys);
  readonly #grants = inject(Grants);

  /** Signs an access token (RFC 9068) and remembers it. */
  async accessToken(grant: Grant, options: AccessTokenOptions): Promise<string> {
    const { issuer, audience, accessTokenSeconds } = this.#settings;
    const { subject, scope, roles, expiresInSeconds = accessTokenSeconds } = options;
    const iat = this.#seconds();
    const claims = {
      ...options.claims,
      iss: issuer,
      sub: subject,
      aud: options.audience ?? audience,
      exp: iat + expiresInSeconds,
      iat,
      jti: crypto.randomUUID(),
      client_id: grant.clientId,
      ...(scope && { scope }),
      ...(roles && { roles }),
      ...options.override,
    };
    const token = await this.#keys.sign(claims, "at+jwt");
    const issued = { grant, scope: scope ?? "", subject };
    this.#grants.rememberAccessToken(token, issued, expiresInSeconds);
    return token;
  }

  /** Signs an ID token for the login of a grant (OpenID Connect Core §2). */
  async idToken(
    grant: Grant,
    user: DevelopmentUser,
    { accessToken, nonce }: { readonly accessToken: string; readonly nonce?: string | undefined },
  ): Promise<string> {
    const { issuer, accessTokenSeconds } = this.#settings;
    // OpenID Connect Core §3.1.3.6; Ed25519 hashes with SHA-512 itself
    const hash = this.#keys.algorithm === "EdDSA" ? "SHA-512" : "SHA-256";
    const iat = this.#seconds();
    const claims = {
      ...claimsOf(user, grant.scope),
      iss: issuer,
      aud: grant.clientId,
      exp: iat + accessTokenSeconds,
      iat,
      auth_time: grant.authTime,
      at_hash: await digest(accessToken, hash, { half: true }),
      ...(nonce !== undefined && { nonce }),
    };
    return await this.#keys.sign(claims, "JWT");
  }

  #seconds(): number {
    return Math.floor(this.#settings.now() / 1000);
  }
}
