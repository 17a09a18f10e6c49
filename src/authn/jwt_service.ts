/**
 * Tokens that an application issues to its own callers.
 *
 * @module
 */
import { SignJWT } from "jose/jwt/sign";
import { OAuth2Error } from "../oauth2/ground/errors.ts";
import { MAX_TOKEN_LENGTH } from "../oauth2/resource_server/compact_jws.ts";
import type { KeySource } from "../oauth2/resource_server/key_set.ts";
import { JwtVerifier } from "../oauth2/resource_server/jwt_verifier.ts";
import type { TokenVerifier } from "../oauth2/authentication_options.ts";
import { ValidationConfig } from "../oauth2/resource_server/validation_config.ts";
import type { VerifiedToken } from "../oauth2/resource_server/verified_token_cache.ts";
import type { JwtKey, PublicJwk } from "./jwt_key.ts";
import { checkNames, type Refuse, refusing } from "../platform/option_names.ts";

/** Options of a {@linkcode JwtService}. */
export interface JwtServiceOptions {
  /** The issuer: the `iss` of the tokens. */
  readonly issuer: string;
  /** The recipient: the `aud` of the tokens. Without one, tokens with an `aud` are refused. */
  readonly audience?: string;
  /** The key that signs the tokens. */
  readonly key: JwtKey;
  /** Further keys whose tokens are accepted. */
  readonly acceptedKeys?: readonly JwtKey[];
  /** The lifetime of a token in seconds; 900 by default. */
  readonly expiresInSeconds?: number;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
}

/** The content of a token. */
export interface JwtContent {
  /** The subject: the `sub` of the token. */
  readonly subject: string;
  /** The roles of the subject. */
  readonly roles?: readonly string[];
  /** Other claims, as JSON values. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** The lifetime in seconds; that of the service by default. */
  readonly expiresInSeconds?: number;
}

/** The claims that only the service sets. */
export const OWN_CLAIMS: readonly string[] = [
  "iss",
  "aud",
  "sub",
  "exp",
  "nbf",
  "iat",
  "jti",
  "roles",
];

/**
 * Signs and verifies the tokens of an application (RFC 7519). To rotate keys, sign with a new key
 * and keep the previous one in `acceptedKeys` until its tokens have expired.
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
   * @throws {OAuth2Error} `InvalidConfig` if an option is invalid, or two keys have the same `kid`
   * @throws {RangeError} if the lifetime is not a whole number of seconds of at least 1
   * @throws {TypeError} if an option is unknown
   */
  constructor(options: JwtServiceOptions) {
    checkNames(options, {
      known: ["issuer", "audience", "key", "acceptedKeys", "expiresInSeconds", "now"],
      refuse: refusing("issue tokens"),
    });
    const { issuer, audience, key, acceptedKeys = [], expiresInSeconds = 900, now } = options;
    checkLifetime(expiresInSeconds);
    this.#options = { ...options, expiresInSeconds };
    this.#keys = [key, ...acceptedKeys];
    const config = new ValidationConfig()
      .withAlgorithms(this.#keys.map(({ algorithm }) => algorithm))
      .withIssuer(issuer)
      .withTokenType("JWT")
      .withLeeway(0); // it issues them by the same clock
    this.#verifier = new JwtVerifier(
      ownKeys(this.#keys),
      audience === undefined ? config.noAudience() : config.withAudience(audience),
      now ? { now } : {},
    );
  }

  /**
   * Signs a token.
   *
   * @throws {TypeError} if the subject is missing, `roles` is not a list of texts, a member is
   * unknown, or `claims` contains a claim that the service sets
   * @throws {RangeError} if the lifetime is not a whole number of seconds of at least 1, or the
   * token would have more than 16 384 characters, which no verifier accepts
   */
  async sign(content: JwtContent): Promise<string> {
    const refuse: Refuse = refusing("sign token");
    checkNames(content, { known: ["subject", "roles", "claims", "expiresInSeconds"], refuse });
    const { subject, roles, claims = {}, expiresInSeconds } = content;
    if (roles !== undefined && !isTexts(roles)) refuse("roles is not a list of texts");
    if (typeof subject !== "string" || subject === "") {
      throw new TypeError("Cannot sign token: it has no subject");
    }
    const own = OWN_CLAIMS.find((name) => Object.hasOwn(claims, name));
    if (own) throw new TypeError(`Cannot sign token: the service sets ${own}`);
    const { issuer, audience, key, now = Date.now } = this.#options;
    const iat = Math.floor(now() / 1000);
    const exp = iat + checkLifetime(expiresInSeconds ?? this.#options.expiresInSeconds!);
    const token = await new SignJWT({
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
    if (token.length <= MAX_TOKEN_LENGTH) return token;
    const { length } = token;
    throw new RangeError(`Cannot sign token: it has ${length} characters of ${MAX_TOKEN_LENGTH}`);
  }

  /**
   * Verifies a token of this service.
   *
   * @throws {OAuth2Error} as `JwtVerifier.verify` does
   */
  verify(token: string): Promise<VerifiedToken> {
    return this.#verifier.verify(token);
  }

  /** Returns a verifier of its tokens that caches at most `cacheTokens` of them. */
  cachingByDefault(cacheTokens: number): TokenVerifier {
    return this.#verifier.cachingByDefault(cacheTokens);
  }

  /**
   * Returns the set of the public keys (RFC 7517 §5), with which other services verify its tokens.
   */
  jwks(): { readonly keys: readonly PublicJwk[] } {
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) };
  }
}

function ownKeys(keys: readonly JwtKey[]): KeySource {
  const byKid = new Map(keys.map((key) => [key.kid, key]));
  if (byKid.size < keys.length) {
    throw new OAuth2Error({ code: "InvalidConfig" }, "Cannot use keys: two have the same kid");
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

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
