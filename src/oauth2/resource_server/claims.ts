/**
 * Validation of the claims of a token with a valid signature (RFC 7519 §4.1).
 *
 * @module
 */
import { OAuth2Error } from "../ground/errors.ts";
import type { ValidationConfig } from "./validation_config.ts";

/** The claims of a verified token. */
export interface Claims {
  /** When the token expires, in seconds since 1970. */
  readonly exp: number;
  /** Any other claim. */
  readonly [name: string]: unknown;
}

/**
 * Checks the claims `exp` (required), `nbf`, `iat`, `iss` and `aud`.
 *
 * @throws {OAuth2Error} `InvalidClaim` with the name of the claim
 */
export function checkClaims(
  claims: Readonly<Record<string, unknown>>,
  { issuer, audience, acceptsNoAudience, leewaySeconds }: ValidationConfig,
  nowSeconds: number,
): Claims {
  const { exp, nbf, iat, iss, aud } = claims;
  if (!isTime(exp)) throw invalidClaim("exp", "is missing or not a time");
  if (nowSeconds >= exp + leewaySeconds) throw invalidClaim("exp", "has passed");
  if (nbf !== undefined) {
    if (!isTime(nbf)) throw invalidClaim("nbf", "is not a time");
    if (nowSeconds < nbf - leewaySeconds) throw invalidClaim("nbf", "is in the future");
  }
  if (iat !== undefined && !isTime(iat)) throw invalidClaim("iat", "is not a time");
  const expected = typeof issuer === "function" ? issuer(claims) : issuer;
  if (issuer !== undefined && (expected === undefined || iss !== expected)) {
    throw invalidClaim("iss", expected === undefined ? "does not match" : `is not ${expected}`);
  }
  if (audience !== undefined && !isFor(aud, audience)) {
    throw invalidClaim("aud", `does not include ${audience}`);
  }
  if (acceptsNoAudience && aud !== undefined) {
    throw invalidClaim("aud", "names an audience, the verifier has none");
  }
  return claims as Record<string, unknown> & Claims; // exp is checked
}

/** Creates the error for an invalid claim. */
export function invalidClaim(claim: string, why: string): OAuth2Error {
  return new OAuth2Error({ code: "InvalidClaim", claim }, `Cannot verify token: ${claim} ${why}`);
}

/** Checks whether a value is a NumericDate (RFC 7519 §2). In JSON, `1e999` is infinity. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isFor(aud: unknown, audience: string): boolean {
  if (!Array.isArray(aud)) return aud === audience;
  return aud.every((each) => typeof each === "string") && aud.includes(audience);
}
