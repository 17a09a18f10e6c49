/**
 * What `useOAuth2` and `useAuthn` take.
 *
 * @module
 */
import { checkDefined, checkNames, type Refuse, refusing } from "../platform/option_names.ts";
import type { VerifyOptions } from "./resource_server/key_set.ts";
import type { ValidationConfig } from "./resource_server/validation_config.ts";
import type { VerifiedToken } from "./resource_server/verified_token_cache.ts";
import type { TokenSource } from "./token_source.ts";

/**
 * Verifies tokens: a `JwtVerifier`, or one that asks the provider about opaque tokens (RFC 7662).
 */
export interface TokenVerifier {
  /**
   * Verifies a token.
   *
   * @throws {OAuth2Error} if it is invalid
   */
  verify(token: string, options?: VerifyOptions): Promise<Pick<VerifiedToken, "claims">>;
  /** Returns a verifier of the same tokens that caches them, unless it is configured otherwise. */
  cachingByDefault?(cacheTokens: number): TokenVerifier;
  /** What a token must be like. `useOAuth2` refuses one without an issuer or an audience. */
  readonly validation?: ValidationConfig;
}

/** Options of `app.useOAuth2()` and `app.useAuthn()`. */
export interface AuthenticationOptions {
  /**
   * Whether every route needs an identity unless it declares `public: true`; `false` by default.
   */
  readonly require?: boolean;
  /**
   * Where the token of a request is: `bearer()` by default, `scheme("Token")` or
   * `cookie("session")`.
   */
  readonly from?: TokenSource | undefined;
}

/**
 * Checks the arguments of `useOAuth2` and `useAuthn`. A verifier has to name its issuer and its
 * audience, so that tokens which a provider issued to other applications are not accepted by
 * accident.
 *
 * @throws {TypeError} if the `ValidationConfig` of the verifier names no issuer or no audience, and
 * does not call `anyIssuer()` or `anyAudience()` either; if an option is unknown; or if `require`
 * is present and not a boolean, or `from` not a token source
 */
export function checkAuthentication(
  verifier: TokenVerifier,
  options: AuthenticationOptions = {},
): void {
  if (typeof verifier?.verify !== "function") refuse("the verifier has no method verify");
  checkBounds(verifier);
  checkNames(options, { known: ["require", "from"], refuse });
  checkDefined(options, { names: ["require"], refuse });
  const { require, from } = options;
  if (![undefined, true, false].includes(require)) refuse("require is not a boolean");
  if (from === undefined || typeof from?.read === "function" && from.challenges) return;
  refuse("from is not a TokenSource; use bearer(), scheme() or cookie()");
}

const refuse: Refuse = refusing("authenticate");

function checkBounds({ validation }: TokenVerifier): void {
  if (!validation) return;
  const { issuer, audience, acceptsAnyIssuer, acceptsAnyAudience, acceptsNoAudience } = validation;
  const hasIssuer = issuer !== undefined || acceptsAnyIssuer;
  const hasAudience = audience !== undefined || acceptsAnyAudience || acceptsNoAudience;
  if (hasIssuer && hasAudience) return;
  const missing = [...hasIssuer ? [] : ["issuer"], ...hasAudience ? [] : ["audience"]];
  const calls = missing.map((each) =>
    each === "issuer" ? "withIssuer() or anyIssuer()" : "withAudience() or anyAudience()"
  );
  const why = `its ValidationConfig names no ${missing.join(" and no ")}`;
  throw new TypeError(`Cannot use verifier: ${why}; call ${calls.join(", and ")}`);
}
