/**
 * Who a request comes from, as its token says.
 *
 * @module
 */
import { type Claims, invalidClaim } from "./resource_server/claims.ts";

/** The identity of a verified token. */
export interface OAuth2Identity {
  /** Its `sub` claim: never empty. */
  readonly subject: string;
  /** All of its claims. */
  readonly claims: Claims;
}

/**
 * Gives the identity that claims tell.
 *
 * @throws {OAuth2Error} `InvalidClaim` if `sub` is missing, empty or no string
 */
export function identityOf(claims: Claims): OAuth2Identity {
  const { sub } = claims;
  if (typeof sub !== "string" || sub === "") throw invalidClaim("sub", "is missing, or no string");
  return { subject: sub, claims };
}
