/**
 * Verification of id_tokens.
 *
 * @module
 */
import { type Claims, invalidClaim } from "../resource_server/claims.ts";
import type { OAuth2Options } from "./client_options.ts";
import { equalInConstantTime } from "../../platform/secret.ts";
import type { JwksCacheOptions } from "../resource_server/jwks_cache.ts";
import { type JwtVerifier, verifierOf } from "../resource_server/jwt_verifier.ts";
import { ValidationConfig } from "../resource_server/validation_config.ts";

/** The claims of a verified id_token. */
export interface IdTokenClaims extends Claims {
  /** The identifier of the user at this issuer: 1 to 255 characters. */
  readonly sub: string;
  /** When the token was issued, in seconds since 1970. */
  readonly iat: number;
}

/** The parameters of the authorization request that an id_token answers. */
export interface VerifyIdTokenOptions {
  /** The nonce, if it had one. */
  readonly nonce?: string | undefined;
  /** Its `max_age` in seconds, if it had one: `auth_time` must be there, and not older. */
  readonly maxAgeSeconds?: number | undefined;
}

/** What an id_token must match. */
export interface IdTokenExpectations extends VerifyIdTokenOptions {
  /** The client that the token must be issued to. */
  readonly clientId: string;
  /** The time in seconds since 1970, less the accepted difference between clocks. */
  readonly nowSeconds: number;
}

/**
 * Returns a verifier of the id_tokens of a server as JWTs; `undefined` if its issuer or
 * keys are unknown.
 */
export function idTokenVerifier(
  { issuer, idTokenIssuer, jwksUrl, clientId, idTokenAlgorithms }: OAuth2Options,
  options: JwksCacheOptions,
): JwtVerifier | undefined {
  const expected = idTokenIssuer ?? issuer;
  if (expected === undefined || jwksUrl === undefined) return undefined;
  const config = new ValidationConfig()
    .withAlgorithms(idTokenAlgorithms)
    .withIssuer(expected)
    .withAudience(clientId);
  return verifierOf(jwksUrl, config, options).verifier;
}

/**
 * Checks the claims of an id_token beyond those of a verified JWT (OpenID Connect Core §2
 * and §3.1.3.7).
 *
 * @throws {OAuth2Error} `InvalidClaim` with the name of the claim
 */
export function checkIdToken(
  claims: Claims,
  { clientId, nonce, maxAgeSeconds, nowSeconds }: IdTokenExpectations,
): IdTokenClaims {
  const { sub, iat, azp, aud } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > 255) {
    throw invalidClaim("sub", "is not 1 to 255 characters");
  }
  if (typeof iat !== "number" || !Number.isFinite(iat)) {
    throw invalidClaim("iat", "is missing or not a time");
  }
  if (azp === undefined && Array.isArray(aud) && aud.length > 1) {
    throw invalidClaim("azp", "is missing with several audiences");
  }
  if (azp !== undefined && azp !== clientId) throw invalidClaim("azp", "does not match");
  if (maxAgeSeconds !== undefined) checkAge(claims.auth_time, nowSeconds - maxAgeSeconds);
  checkNonce(claims.nonce, nonce);
  return { ...claims, sub, iat };
}

function checkAge(authTime: unknown, earliest: number): void {
  if (typeof authTime !== "number") throw invalidClaim("auth_time", "is missing or not a time");
  if (!(authTime >= earliest)) throw invalidClaim("auth_time", "is older than max_age");
}

/** An unexpected nonce belongs to another login. */
function checkNonce(nonce: unknown, expected: string | undefined): void {
  if (expected === undefined && nonce === undefined) return;
  const isEqual = typeof nonce === "string" && expected !== undefined && expected !== "" &&
    equalInConstantTime(nonce, expected);
  if (!isEqual) throw invalidClaim("nonce", "does not match");
}
