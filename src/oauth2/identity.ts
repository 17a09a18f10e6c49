/**
 * Who a request comes from, as its token says.
 *
 * @module
 */
import { type Slot, slot } from "../core/http/slot.ts";
import { type Claims, invalidClaim } from "./resource_server/claims.ts";

/** The identity of a verified token. */
export interface OAuth2Identity {
  /** Its `sub` claim: never empty. */
  readonly subject: string;
  /** All of its claims. */
  readonly claims: Claims;
}

/** The identity of a token that `useOAuth2` has verified. */
export const oauth2IdentitySlot: Slot<OAuth2Identity> = slot("oauth2Identity");

/** Whether the request's token is one that the application itself has issued, valid or not. */
export const isOwnTokenSlot: Slot<boolean> = slot("isOwnToken");

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
