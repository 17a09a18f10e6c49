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

/** What an id_token must match. */
export interface IdTokenExpectations {
  /** The client that the token must be issued to. */
  readonly clientId: string;
  /** The nonce of the authorization request, if it had one. */
  readonly nonce: string | undefined;
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
  { clientId, nonce }: IdTokenExpectations,
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
  checkNonce(claims.nonce, nonce);
  return { ...claims, sub, iat };
}

/** An unexpected nonce belongs to another login. */
function checkNonce(nonce: unknown, expected: string | undefined): void {
  if (expected === undefined && nonce === undefined) return;
  const isEqual = typeof nonce === "string" && expected !== undefined && expected !== "" &&
    equalInConstantTime(nonce, expected);
  if (!isEqual) throw invalidClaim("nonce", "does not match");
}
