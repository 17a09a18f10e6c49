/**
 * Tokens that an application issues to its own callers.
 *
 * @module
 */
import { SignJWT } from "jose";
import { OAuth2Error } from "../oauth2/ground/errors.ts";
import type { KeySource } from "../oauth2/resource_server/key_set.ts";
import { JwtVerifier } from "../oauth2/resource_server/jwt_verifier.ts";
import type { TokenVerifier } from "../oauth2/middleware.ts";
import { ValidationConfig } from "../oauth2/resource_server/validation_config.ts";
import type { VerifiedToken } from "../oauth2/resource_server/verified_token_cache.ts";
import type { JwtKey, PublicJwk } from "./jwt_key.ts";

/** Options of a {@linkcode JwtService}. */
export interface JwtServiceOptions {
  /** Who issues the tokens: their `iss`. */
  readonly issuer: string;
  /** Whom they are for: their `aud`; none by default. */
  readonly audience?: string;
  /** The key that signs them. */
  readonly key: JwtKey;
  /** Keys that signed tokens which are still about, and are to be accepted. */
  readonly acceptedKeys?: readonly JwtKey[];
  /** How long a token holds in seconds; 900 by default. */
  readonly expiresInSeconds?: number;
  /** The time in milliseconds since 1970; the platform's by default. */
  readonly now?: () => number;
}

/** What a token says. */
export interface JwtContent {
  /** Whom it stands for: its `sub`. */
  readonly subject: string;
  /** The roles of its bearer. */
  readonly roles?: readonly string[];
  /** Other claims, which must be fit for JSON. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** How long it holds in seconds; by default, what the service says. */
  readonly expiresInSeconds?: number;
}

/** Claims that the service alone sets. */
const OWN_CLAIMS = ["iss", "aud", "sub", "exp", "nbf", "iat", "jti", "roles"];

/**
 * Signs and verifies an application's own tokens (RFC 7519). To rotate keys, sign with a new one and
 * keep the last in `acceptedKeys` for as long as its tokens hold.
 *
 * @example
 * ```ts
 * import { JwtKey, JwtService } from "@fw/fw/authn";
 *
 * const service = new JwtService({
 *   issuer: "https://api.example.com",
 *   key: await JwtKey.generate(),
 * });
 * const token = await service.sign({ subject: "tom", roles: ["admin"] });
 * const { claims } = await service.verify(token);
 * console.assert(claims.sub === "tom");
 * ```
 */
export class JwtService implements TokenVerifier {
  readonly #options: JwtServiceOptions;
  readonly #keys: readonly JwtKey[];
  readonly #verifier: JwtVerifier;

  /**
   * Creates a service.
   *
   * @throws {OAuth2Error} `InvalidConfig` if an option is not sound, or two keys have one `kid`
   * @throws {RangeError} if tokens are to hold for less than a second
   */
  constructor(options: JwtServiceOptions) {
    const { issuer, audience, key, acceptedKeys = [], expiresInSeconds = 900, now } = options;
    checkLifetime(expiresInSeconds);
    this.#options = { ...options, expiresInSeconds };
    this.#keys = [key, ...acceptedKeys];
    const config = new ValidationConfig()
      .withAlgorithms(this.#keys.map(({ algorithm }) => algorithm))
      .withIssuer(issuer)
      .withTokenType("JWT");
    this.#verifier = new JwtVerifier(
      ownKeys(this.#keys),
      audience === undefined ? config : config.withAudience(audience),
      now ? { now } : {},
    );
  }

  /**
   * Signs a token.
   *
   * @throws {TypeError} if there is no subject, or a claim is one that the service sets
   * @throws {RangeError} if it is to hold for less than a second
   */
  async sign({ subject, roles, claims = {}, expiresInSeconds }: JwtContent): Promise<string> {
    if (typeof subject !== "string" || subject === "") {
      throw new TypeError("Cannot sign token: it has no subject");
    }
    const own = OWN_CLAIMS.find((name) => Object.hasOwn(claims, name));
    if (own) throw new TypeError(`Cannot sign token: the service sets ${own}`);
    const { issuer, audience, key, now = Date.now } = this.#options;
    const iat = Math.floor(now() / 1000);
    const exp = iat + checkLifetime(expiresInSeconds ?? this.#options.expiresInSeconds!);
    return await new SignJWT({
      ...claims,
      ...(roles && { roles }),
      ...(audience !== undefined && { aud: audience }),
      iss: issuer,
      sub: subject,
      iat,
      exp,
      jti: crypto.randomUUID(),
    })
      .setProtectedHeader({ alg: key.algorithm, kid: key.kid, typ: "JWT" })
      .sign(key.cryptoKeys().privateKey);
  }

  /**
   * Verifies a token of this service.
   *
   * @throws {OAuth2Error} as `JwtVerifier.verify` does
   */
  verify(token: string): Promise<VerifiedToken> {
    return this.#verifier.verify(token);
  }

  /** Gives a verifier of its tokens that keeps so many of them. */
  cachingByDefault(cacheTokens: number): TokenVerifier {
    return this.#verifier.cachingByDefault(cacheTokens);
  }

  /** Gives the key set of its public keys (RFC 7517 §5), for other services to verify its tokens. */
  jwks(): { readonly keys: readonly PublicJwk[] } {
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) };
  }
}

function ownKeys(keys: readonly JwtKey[]): KeySource {
  const byKid = new Map(keys.map((key) => [key.kid, key]));
  if (byKid.size < keys.length) {
    throw new OAuth2Error({ code: "InvalidConfig" }, "Cannot use keys: two have one kid");
  }
  return {
    find(kid, alg) {
      const key = byKid.get(kid);
      return key?.algorithm === alg ? [key.cryptoKeys().publicKey] : [];
    },
    resolve() {
      const message = "Cannot verify token: its key is unknown";
      return Promise.reject(new OAuth2Error({ code: "UnknownKid" }, message));
    },
  };
}

function checkLifetime(seconds: number): number {
  if (Number.isSafeInteger(seconds) && seconds > 0) return seconds;
  throw new RangeError(`Cannot issue tokens: ${seconds} is not a whole number of seconds`);
}
