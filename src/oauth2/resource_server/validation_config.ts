/**
 * The configuration of token verification.
 *
 * @module
 */
import { refuseOption } from "../ground/refuse_option.ts";
import { isSigningAlgorithm, type SigningAlgorithm } from "./signing_algorithm.ts";

/** The largest difference between clocks in seconds. */
const MAX_LEEWAY_SECONDS = 300;

/**
 * Returns the expected `iss` of a token from its other claims, for providers with an issuer for
 * each tenant. If it returns `undefined`, the token is refused.
 */
export type IssuerOf = (claims: Readonly<Record<string, unknown>>) => string | undefined;

interface Settings {
  readonly algorithms: readonly SigningAlgorithm[];
  readonly issuer?: string | IssuerOf;
  readonly acceptsAnyIssuer?: boolean;
  readonly audience?: string;
  readonly acceptsAnyAudience?: boolean;
  readonly acceptsNoAudience?: boolean;
  readonly tokenType?: string;
  readonly leewaySeconds: number;
}

/**
 * The configuration of token verification. Immutable: each method returns a new configuration.
 * Without an issuer or an audience, every token that a key of the key set has signed is accepted:
 * name both. `useOAuth2` refuses a verifier that names neither these nor
 * {@linkcode ValidationConfig.anyIssuer} and {@linkcode ValidationConfig.anyAudience}.
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
   * @throws {OAuth2Error} `InvalidConfig` if it is not a {@linkcode SigningAlgorithm}, such as
   * `none` or the symmetric HS256, HS384 and HS512
   */
  constructor(algorithm: SigningAlgorithm = "EdDSA") {
    this.#settings = { algorithms: checkAlgorithms([algorithm]), leewaySeconds: 60 };
  }

  /**
   * Accepts tokens of these algorithms only.
   *
   * @throws {OAuth2Error} `InvalidConfig` if the list is empty, or an item is not a
   * {@linkcode SigningAlgorithm}
   */
  withAlgorithms(algorithms: readonly SigningAlgorithm[]): ValidationConfig {
    return this.#with({ algorithms: checkAlgorithms(algorithms) });
  }

  /**
   * Accepts tokens whose `iss` equals this, or the result of this function (RFC 7519 §4.1.1).
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is empty, or after `anyIssuer()`
   */
  withIssuer(issuer: string | IssuerOf): ValidationConfig {
    if (this.acceptsAnyIssuer) refuseOption("withIssuer()", "anyIssuer() accepts every issuer");
    const isFunction = typeof issuer === "function";
    return this.#with({ issuer: isFunction ? issuer : checkText("issuer", issuer) });
  }

  /**
   * Accepts tokens of every issuer on purpose, if a key of the key set has signed them.
   *
   * @throws {OAuth2Error} `InvalidConfig` after `withIssuer()`
   */
  anyIssuer(): ValidationConfig {
    if (this.issuer !== undefined) refuseOption("anyIssuer()", "withIssuer() names one");
    return this.#with({ acceptsAnyIssuer: true });
  }

  /**
   * Accepts tokens whose `aud` equals this, or is a list that contains it (RFC 7519 §4.1.3).
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is empty, or after `anyAudience()` or
   * `noAudience()`
   */
  withAudience(audience: string): ValidationConfig {
    if (this.acceptsAnyAudience) {
      refuseOption("withAudience()", "anyAudience() accepts every audience");
    }
    if (this.acceptsNoAudience) refuseOption("withAudience()", "noAudience() accepts none");
    return this.#with({ audience: checkText("audience", audience) });
  }

  /**
   * Accepts tokens for every audience on purpose, including those that the provider issued to other
   * applications, which can then act for their users here (RFC 9700 §2.3).
   *
   * @throws {OAuth2Error} `InvalidConfig` after `withAudience()` or `noAudience()`
   */
  anyAudience(): ValidationConfig {
    if (this.audience !== undefined) refuseOption("anyAudience()", "withAudience() names one");
    if (this.acceptsNoAudience) refuseOption("anyAudience()", "noAudience() accepts none");
    return this.#with({ acceptsAnyAudience: true });
  }

  /**
   * Accepts only tokens without an `aud`: a token with one is for the recipients that it names
   * (RFC 7519 §4.1.3).
   *
   * @throws {OAuth2Error} `InvalidConfig` after `withAudience()` or `anyAudience()`
   */
  noAudience(): ValidationConfig {
    if (this.audience !== undefined) refuseOption("noAudience()", "withAudience() names one");
    if (this.acceptsAnyAudience) {
      refuseOption("noAudience()", "anyAudience() accepts every audience");
    }
    return this.#with({ acceptsNoAudience: true });
  }

  /**
   * Accepts tokens of this `typ`, compared as in RFC 7515 §4.1.9: `at+jwt` for access tokens
   * (RFC 9068 §4).
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is empty
   */
  withTokenType(tokenType: string): ValidationConfig {
    return this.#with({ tokenType: mediaType(checkText("token type", tokenType)) });
  }

  /**
   * Sets the accepted difference between the clocks of issuer and verifier: 0 to 300 seconds, 60 by
   * default.
   *
   * @throws {OAuth2Error} `InvalidConfig` if it is out of range
   */
  withLeeway(seconds: number): ValidationConfig {
    const isValid = Number.isFinite(seconds) && seconds >= 0 && seconds <= MAX_LEEWAY_SECONDS;
    if (!isValid) refuseOption("leeway", `${seconds} s is not 0 to ${MAX_LEEWAY_SECONDS}`);
    return this.#with({ leewaySeconds: seconds });
  }

  /** The accepted algorithms. */
  get algorithms(): readonly SigningAlgorithm[] {
    return this.#settings.algorithms;
  }

  /** The accepted `iss`; any if `undefined`. */
  get issuer(): string | IssuerOf | undefined {
    return this.#settings.issuer;
  }

  /** Whether `anyIssuer()` was called. */
  get acceptsAnyIssuer(): boolean {
    return this.#settings.acceptsAnyIssuer ?? false;
  }

  /** The accepted `aud`; any if `undefined`. */
  get audience(): string | undefined {
    return this.#settings.audience;
  }

  /** Whether `anyAudience()` was called. */
  get acceptsAnyAudience(): boolean {
    return this.#settings.acceptsAnyAudience ?? false;
  }

  /** Whether `noAudience()` was called. */
  get acceptsNoAudience(): boolean {
    return this.#settings.acceptsNoAudience ?? false;
  }

  /** The accepted `typ`, in lower case and without `application/`; any if `undefined`. */
  get tokenType(): string | undefined {
    return this.#settings.tokenType;
  }

  /** The accepted difference between clocks in seconds. */
  get leewaySeconds(): number {
    return this.#settings.leewaySeconds;
  }

  #with(changed: Partial<Settings>): ValidationConfig {
    const config = new ValidationConfig();
    config.#settings = { ...this.#settings, ...changed };
    return config;
  }
}

/** Normalizes a media type for comparison: in lower case, without `application/`. */
export function mediaType(type: string): string {
  return type.toLowerCase().replace(/^application\//, "");
}

function checkAlgorithms(algorithms: readonly unknown[]): readonly SigningAlgorithm[] {
  if (algorithms.length === 0) refuseOption("algorithms", "the list is empty");
  return Object.freeze(algorithms.map((name) => {
    if (isSigningAlgorithm(name)) return name;
    return refuseOption("algorithm", `${JSON.stringify(name)} is not supported`);
  }));
}

function checkText(name: string, value: string): string {
  return typeof value === "string" && value !== "" ? value : refuseOption(name, "it is empty");
}
