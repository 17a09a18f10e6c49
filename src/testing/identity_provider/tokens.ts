/**
 * Access tokens and ID tokens, and the keys that sign them.
 *
 * @module
 */
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose";
import type { CryptoKey, JWK, JWTPayload } from "jose";
import { inject } from "../../core/module/container.ts";
import { digest, type Grant, Grants } from "./grants.ts";
import type { DevelopmentSigningAlgorithm, DevelopmentUser } from "./options.ts";
import { Settings } from "./settings.ts";

interface AccessTokenOptions {
  readonly subject: string;
  readonly audience?: string | readonly string[] | undefined;
  readonly scope?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** Claims beside those of the protocol. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** Claims that replace any other. */
  readonly override?: Readonly<Record<string, unknown>> | undefined;
  readonly expiresInSeconds?: number | undefined;
}

/** Issues access tokens and ID tokens. */
export class TokenIssuer {
  readonly #settings = inject(Settings);
  readonly #keys = inject(SigningKeys);
  readonly #grants = inject(Grants);

  /** Signs an access token (RFC 9068) and keeps it. */
  async accessToken(grant: Grant, options: AccessTokenOptions): Promise<string> {
    const { issuer, audience, accessTokenSeconds } = this.#settings;
    const { subject, scope = "", roles, expiresInSeconds = accessTokenSeconds } = options;
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
    this.#grants.addAccessToken(token, { grant, scope, subject, lifeSeconds: expiresInSeconds });
    return token;
  }

  /** Signs an ID token for the login of a grant (OpenID Connect Core §2). */
  async idToken(
    grant: Grant & { readonly user: DevelopmentUser },
    { accessToken, nonce }: { readonly accessToken: string; readonly nonce?: string | undefined },
  ): Promise<string> {
    const { issuer, accessTokenSeconds } = this.#settings;
    // OpenID Connect Core §3.1.3.6; Ed25519 hashes with SHA-512 itself
    const hash = this.#keys.algorithm === "EdDSA" ? "SHA-512" : "SHA-256";
    const iat = this.#seconds();
    const claims = {
      ...claimsOf(grant.user, grant.scope),
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

/** The claims that ID tokens and userinfo can have, for the metadata. */
export const CLAIMS: readonly string[] = ["sub", "name", "email", "email_verified", "roles"];

/** Returns the claims of a user that the scopes allow (OpenID Connect Core §5.4). */
export function claimsOf(
  { subject, name, email, roles, claims }: DevelopmentUser,
  scope: string,
): Readonly<Record<string, unknown>> {
  const scopes = scope.split(" ");
  return {
    ...claims,
    ...(scopes.includes("profile") && { name }),
    ...(scopes.includes("email") && { email, email_verified: true }),
    ...(roles && { roles }),
    sub: subject,
  };
}

interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Signs with a key that can be rotated, and publishes it. Private keys cannot be exported. */
export class SigningKeys {
  /** The algorithm of every key. */
  readonly algorithm: DevelopmentSigningAlgorithm;
  #keys: readonly [SigningKey, ...SigningKey[]];

  /** Creates them; use {@linkcode SigningKeys.generate}. */
  constructor(algorithm: DevelopmentSigningAlgorithm, key: SigningKey) {
    this.algorithm = algorithm;
    this.#keys = [key];
  }

  /** Generates the first key. */
  static async generate(algorithm: DevelopmentSigningAlgorithm): Promise<SigningKeys> {
    return new SigningKeys(algorithm, await generateKey(algorithm));
  }

  /** Signs with a new key from now on; of the previous ones, three or none stay published. */
  async rotate({ keepPrevious }: { readonly keepPrevious: boolean }): Promise<void> {
    const next = await generateKey(this.algorithm);
    this.#keys = [next, ...keepPrevious ? this.#keys.slice(0, 3) : []];
  }

  /** Returns the public keys as a JWK Set (RFC 7517 §5), the one that signs first. */
  toJwks(): { readonly keys: readonly JWK[] } {
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) };
  }

  /** Signs claims as a JWT of a type, such as `at+jwt`. */
  async sign(claims: Readonly<Record<string, unknown>>, typ: string): Promise<string> {
    const { privateKey, publicJwk: { kid } } = this.#keys[0];
    return await new SignJWT(claims as JWTPayload) // tests can set claims of any type
      .setProtectedHeader({ alg: this.algorithm, typ, kid: kid as string })
      .sign(privateKey);
  }
}

async function generateKey(alg: DevelopmentSigningAlgorithm): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const jwk = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  return { privateKey, publicJwk: { ...jwk, kid, alg, use: "sig" } };
}
