/**
 * Verification of signed tokens.
 *
 * @module
 */
import { checkClaims } from "./claims.ts";
import {
  type CompactJws,
  type JwsHeader,
  malformed,
  type ProtectedHeader,
  readCompactJws,
  readJson,
} from "./compact_jws.ts";
import { OAuth2Error } from "../ground/errors.ts";
import { refuseOption } from "../ground/refuse_option.ts";
import { checkNames } from "../../platform/option_names.ts";
import { JwksCache, type JwksCacheOptions } from "./jwks_cache.ts";
import type { KeySource, VerifyOptions } from "./key_set.ts";
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from "./signing_algorithm.ts";
import { mediaType, type ValidationConfig } from "./validation_config.ts";
import { type VerifiedToken, VerifiedTokenCache } from "./verified_token_cache.ts";

/** Options of a {@linkcode JwtVerifier}. */
export interface JwtVerifierOptions {
  /**
   * How many verified tokens are cached, so that they are not verified again; 0 by default.
   * `app.useOAuth2` caches 1 000 if this is not set.
   */
  readonly cacheTokens?: number;
  /** Returns the time in milliseconds since 1970; `Date.now` by default. */
  readonly now?: () => number;
}

/**
 * Verifies signed tokens strictly (RFC 7519, RFC 8725): the algorithm, then the key, the signature
 * and the claims.
 *
 * @example
 * ```ts
 * import { JwksCache, JwtVerifier, ValidationConfig } from "@fw/fw/oauth2";
 *
 * const config = new ValidationConfig("ES256")
 *   .withIssuer("https://id.example.com")
 *   .withAudience("https://api.example.com");
 * const verifier = new JwtVerifier(new JwksCache("https://id.example.com/jwks"), config);
 *
 * async function subjectOf(token: string): Promise<unknown> {
 *   const { claims } = await verifier.verify(token);
 *   return claims.sub;
 * }
 * ```
 */
export class JwtVerifier {
  readonly #keys: KeySource;
  readonly #config: ValidationConfig;
  readonly #options: JwtVerifierOptions;
  readonly #now: () => number;
  readonly #verified: VerifiedTokenCache | undefined;
  /** Most tokens of an issuer have the same header, which is then decoded once. */
  #lastHeader: ProtectedHeader | undefined;

  /**
   * Creates a verifier; several can share the keys.
   *
   * @throws {OAuth2Error} `InvalidConfig` if `cacheTokens` is not a whole number of 0 or more, or
   * an option is unknown
   */
  constructor(keys: KeySource, config: ValidationConfig, options: JwtVerifierOptions = {}) {
    checkNames(options, {
      known: ["cacheTokens", "now"],
      refuse: (why) => refuseOption("verifier", why),
    });
    const { cacheTokens = 0, now = Date.now } = options;
    if (!Number.isSafeInteger(cacheTokens) || cacheTokens < 0) {
      refuseOption("cacheTokens", `${cacheTokens} is not a whole number of 0 or more`);
    }
    this.#keys = keys;
    this.#config = config;
    this.#options = options;
    this.#now = now;
    this.#verified = cacheTokens === 0 ? undefined : new VerifiedTokenCache(cacheTokens);
  }

  /**
   * Creates a verifier and fetches the keys.
   *
   * @throws {OAuth2Error} `JwksFetch` if that fails, `InvalidConfig` if an option is invalid
   */
  static async fromUrl(
    url: string | URL,
    config: ValidationConfig,
    options: JwtVerifierOptions & JwksCacheOptions = {},
  ): Promise<JwtVerifier> {
    const { keys, verifier } = verifierOf(url, config, options);
    await keys.refresh();
    return verifier;
  }

  /** What a token must be like. */
  get validation(): ValidationConfig {
    return this.#config;
  }

  /** Returns a verifier of the same tokens that caches them, unless `cacheTokens` is set. */
  cachingByDefault(cacheTokens: number): JwtVerifier {
    if (this.#options.cacheTokens !== undefined) return this;
    return new JwtVerifier(this.#keys, this.#config, { ...this.#options, cacheTokens });
  }

  /**
   * Verifies a token. On an edge runtime, `waitUntil` lets a refresh of keys outlive the request.
   *
   * @throws {OAuth2Error} `Validation` if the token is malformed, or its algorithm or type is not
   * accepted; `UnknownKid` or `JwksFetch` if there is no key; `InvalidSignature`; `InvalidClaim`
   */
  verify(token: string, options?: VerifyOptions): Promise<VerifiedToken> {
    const known = this.#verified?.find(token, {
      nowSeconds: this.#now() / 1000,
      findKeys: (kid, alg) => this.#keys.find(kid, alg, options),
    });
    return known ? Promise.resolve(known) : this.#verify(token, options);
  }

  async #verify(token: string, options?: VerifyOptions): Promise<VerifiedToken> {
    const jws = readCompactJws(token, this.#lastHeader);
    const { header } = jws.protected;
    const { algorithms, tokenType } = this.#config;
    const alg = algorithms.find((name) => name === header.alg);
    if (alg === undefined) throw malformed(`its algorithm is not ${algorithms.join(" or ")}`);
    if (tokenType !== undefined && typeOf(header) !== tokenType) {
      throw malformed(`its type is not ${tokenType}`);
    }
    this.#lastHeader = jws.protected;
    let keys = this.#keys.find(header.kid, alg, options);
    if (keys.length === 0) keys = await this.#keys.resolve(header.kid, alg, options);
    for (const key of keys) {
      if (!await isSignedBy(key, alg, jws)) continue;
      const payload = readJson(jws.payload, "payload");
      const claims = checkClaims(payload, this.#config, this.#now() / 1000);
      const verified = { header, claims };
      this.#verified?.add(token, { verified, alg, key });
      return verified;
    }
    const message = "Cannot verify token: its signature is invalid";
    throw new OAuth2Error({ code: "InvalidSignature" }, message);
  }
}

/** A verifier, and its keys. */
export interface VerifierParts {
  /** The keys, which are not fetched yet. */
  readonly keys: JwksCache;
  /** The verifier. */
  readonly verifier: JwtVerifier;
}

/**
 * Creates a verifier with keys of its own from the options of both.
 *
 * @throws {OAuth2Error} `InvalidConfig` if an option is unknown or invalid
 */
export function verifierOf(
  url: string | URL,
  config: ValidationConfig,
  options: JwtVerifierOptions & JwksCacheOptions,
): VerifierParts {
  const { cacheTokens: _, ...ofKeys } = options;
  const { fetch: __, timeoutMs: ___, ...ofVerifier } = options;
  const keys = new JwksCache(url, ofKeys);
  return { keys, verifier: new JwtVerifier(keys, config, ofVerifier) };
}

function isSignedBy(
  key: CryptoKey,
  alg: SigningAlgorithm,
  { signature, signingInput }: CompactJws,
): Promise<boolean> {
  const { kty, parameters } = SIGNING_ALGORITHMS.get(alg)!;
  // Node accepts signatures of PS256 without leading zeros, against RFC 8017 §8.1.2
  if (kty === "RSA" && signature.length !== modulusBytes(key)) return Promise.resolve(false);
  const verification = crypto.subtle.verify(parameters, key, signature, signingInput);
  return verification.catch(() => false); // some runtimes throw if the length is wrong
}

function modulusBytes({ algorithm }: CryptoKey): number {
  return Math.ceil((algorithm as RsaHashedKeyAlgorithm).modulusLength / 8);
}

function typeOf({ typ }: JwsHeader): string | undefined {
  return typeof typ === "string" ? mediaType(typ) : undefined;
}
