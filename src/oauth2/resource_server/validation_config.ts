/**
 * What a token must be like.
 *
 * @module
 */
import { OAuth2Error } from "../ground/errors.ts";
import { isSigningAlgorithm, type SigningAlgorithm } from "./signing_algorithm.ts";

/** The most seconds that clocks may differ. */
const MAX_LEEWAY_SECONDS = 300;

/**
 * Gives the `iss` that a token must have by its other claims: for providers that have an issuer for each
 * tenant. A token for which it gives `undefined` is refused.
 */
export type IssuerOf = (claims: Readonly<Record<string, unknown>>) => string | undefined;

interface Settings {
  readonly algorithms: readonly SigningAlgorithm[];
  readonly issuer?: string | IssuerOf;
  readonly acceptsAnyIssuer?: boolean;
  readonly audience?: string;
  readonly acceptsAnyAudience?: boolean;
  readonly tokenType?: string;
  readonly leewaySeconds: number;
}

/**
 * What a token must be like to be accepted. Immutable: each method returns a new one. Without an issuer
 * or an audience, every token that a key of the key set has signed is accepted: name both. `useOAuth2`
 * refuses a verifier that names neither these nor {@linkcode ValidationConfig.anyIssuer} and
 * {@linkcode ValidationConfig.anyAudience}.
 *
 * @example
 * ```ts
 * import { ValidationConfig } from "@fw/fw/oauth2";
 *
 * const config = new ValidationConfig("ES256")
 *   .withIssuer("https://id.example.com")
 *   .withAudience("https://api.example.com")
 *   .withTokenType("at+jwt");
 * ```
 */
export class ValidationConfig {
  #settings: Settings;

  /**
   * Accepts tokens of one algorithm, EdDSA by default.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is none of {@linkcode SigningAlgorithm}: `none` and
   * the symmetric HS256, HS384 and HS512 are not
   */
  constructor(algorithm: SigningAlgorithm = "EdDSA") {
    this.#settings = { algorithms: checkAlgorithms([algorithm]), leewaySeconds: 60 };
  }

  /**
   * Accepts tokens of these algorithms only.
   *
   * @throws {OAuth2Error} `InvalidConfig` if there is none, or one is no {@linkcode SigningAlgorithm}
   */
  withAlgorithms(algorithms: readonly SigningAlgorithm[]): ValidationConfig {
    return this.#with({ algorithms: checkAlgorithms(algorithms) });
  }

  /**
   * Accepts tokens whose `iss` is exactly this, or what this returns for them (RFC 7519 §4.1.1).
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is empty, or after `anyIssuer()`
   */
  withIssuer(issuer: string | IssuerOf): ValidationConfig {
    if (this.acceptsAnyIssuer) refuse("withIssuer()", "anyIssuer() accepts every issuer");
    const isFunction = typeof issuer === "function";
    return this.#with({ issuer: isFunction ? issuer : checkText("issuer", issuer) });
  }

  /**
   * Accepts tokens of every issuer, on purpose: whoever has a key of the key set can issue them.
   *
   * @throws {OAuth2Error} `InvalidConfig` after `withIssuer()`
   */
  anyIssuer(): ValidationConfig {
    if (this.issuer !== undefined) refuse("anyIssuer()", "withIssuer() names one");
    return this.#with({ acceptsAnyIssuer: true });
  }

  /**
   * Accepts tokens whose `aud` is exactly this, or a list that has it (RFC 7519 §4.1.3).
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is empty, or after `anyAudience()`
   */
  withAudience(audience: string): ValidationConfig {
    if (this.acceptsAnyAudience) refuse("withAudience()", "anyAudience() accepts every audience");
    return this.#with({ audience: checkText("audience", audience) });
  }

  /**
   * Accepts tokens for every audience, on purpose: also those that the provider issued to other
   * applications, which can then act for their users here (RFC 9700 §2.3).
   *
   * @throws {OAuth2Error} `InvalidConfig` after `withAudience()`
   */
  anyAudience(): ValidationConfig {
    if (this.audience !== undefined) refuse("anyAudience()", "withAudience() names one");
    return this.#with({ acceptsAnyAudience: true });
  }

  /**
   * Accepts tokens whose `typ` is this, compared as RFC 7515 §4.1.9 says: `at+jwt` for access tokens
   * (RFC 9068 §4).
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is empty
   */
  withTokenType(tokenType: string): ValidationConfig {
    return this.#with({ tokenType: mediaType(checkText("token type", tokenType)) });
  }

  /**
   * Sets by how many seconds the clocks of issuer and verifier may differ: 0 to 300, 60 by default.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is out of range
   */
  withLeeway(seconds: number): ValidationConfig {
    const isSound = Number.isFinite(seconds) && seconds >= 0 && seconds <= MAX_LEEWAY_SECONDS;
    if (!isSound) refuse("leeway", `${seconds} s is not 0 to ${MAX_LEEWAY_SECONDS}`);
    return this.#with({ leewaySeconds: seconds });
  }

  /** The algorithms that are accepted. */
  get algorithms(): readonly SigningAlgorithm[] {
    return this.#settings.algorithms;
  }

  /** The `iss` that is accepted; any if `undefined`. */
  get issuer(): string | IssuerOf | undefined {
    return this.#settings.issuer;
  }

  /** Whether `anyIssuer()` was called. */
  get acceptsAnyIssuer(): boolean {
    return this.#settings.acceptsAnyIssuer ?? false;
  }

  /** The `aud` that is accepted; any if `undefined`. */
  get audience(): string | undefined {
    return this.#settings.audience;
  }

  /** Whether `anyAudience()` was called. */
  get acceptsAnyAudience(): boolean {
    return this.#settings.acceptsAnyAudience ?? false;
  }

  /** The `typ` that is accepted, in lower case and without `application/`; any if `undefined`. */
  get tokenType(): string | undefined {
    return this.#settings.tokenType;
  }

  /** By how many seconds clocks may differ. */
  get leewaySeconds(): number {
    return this.#settings.leewaySeconds;
  }

  #with(changed: Partial<Settings>): ValidationConfig {
    const config = new ValidationConfig();
    config.#settings = { ...this.#settings, ...changed };
    return config;
  }
}

/** Gives a media type as it is compared: in lower case, without `application/`. */
export function mediaType(type: string): string {
  return type.toLowerCase().replace(/^application\//, "");
}

function checkAlgorithms(algorithms: readonly unknown[]): readonly SigningAlgorithm[] {
  if (algorithms.length === 0) refuse("algorithms", "there is none");
  return Object.freeze(algorithms.map((name) => {
    if (isSigningAlgorithm(name)) return name;
    return refuse("algorithm", `${JSON.stringify(name)} is not one that is safe here`);
  }));
}

function checkText(name: string, value: string): string {
  return typeof value === "string" && value !== "" ? value : refuse(name, "it is empty");
}

function refuse(name: string, why: string): never {
  throw new OAuth2Error({ code: "InvalidConfig" }, `Cannot use ${name}: ${why}`);
}
