/**
 * The identity and the roles that the claims of a token state.
 *
 * @module
 */
import { type Slot, slot } from "../core/http/context.ts";
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

/** The identity of a token that `useAuthn` has verified. */
export const authnIdentitySlot: Slot<OAuth2Identity> = slot("authnIdentity");

/** The token of the request, if the application itself has issued it and its claims are invalid. */
export const ownTokenSlot: Slot<string> = slot("ownToken");

/**
 * Reads the roles of a caller from the claims of a verified token: a list of strings, or
 * `undefined` for no roles. Anything else is an error, so that a claim can be returned as it is.
 */
export type RolesReader = (claims: Claims) => unknown;

/**
 * Returns the identity that claims state.
 *
 * @throws {OAuth2Error} `InvalidClaim` if `sub` is missing, empty or not a string
 */
export function identityOf(claims: Claims): OAuth2Identity {
  const { sub } = claims;
  if (typeof sub !== "string" || sub === "") {
    throw invalidClaim("sub", "is missing or not a string");
  }
  return { subject: sub, claims };
}

/**
 * Reads the roles of a caller.
 *
 * @throws {TypeError} if the reader returns neither a list of strings nor `undefined` or `null`
 */
export function readRoles(reader: RolesReader, claims: Claims): readonly string[] {
  const roles = reader(claims) ?? [];
  if (Array.isArray(roles) && roles.every((role) => typeof role === "string")) return roles;
  throw new TypeError("Cannot read roles: the reader did not return a list of strings");
}

/**
 * Reads roles where providers usually put them: the lists `roles` and `realm_access.roles`, and the
 * words of `scope` (RFC 8693 §4.2, RFC 9068 §2.2.3). Values of another type are ignored.
 */
export function claimedRoles({ roles, realm_access: realm, scope }: Claims): readonly string[] {
  const inRealm: unknown = typeof realm === "object" && realm !== null && "roles" in realm
    ? realm.roles
    : undefined;
  const words = typeof scope === "string" ? scope.split(" ").filter(Boolean) : [];
  return [...strings(roles), ...strings(inRealm), ...words];
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
