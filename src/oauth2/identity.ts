/**
 * The identity, the roles and the scopes that the claims of a token state.
 *
 * @module
 */
import { type Context, type Slot, slot } from "../core/http/context.ts";
import { callerIdentity, callerRoles, callerScopes } from "../core/route/caller.ts";
import { type Claims, invalidClaim } from "./resource_server/claims.ts";

/** The identity of a verified token. */
export interface OAuth2Identity {
  /** Its `sub` claim: never empty. */
  readonly subject: string;
  /** The scopes that it grants: the words of `scope`, and those in `scp`. */
  readonly scopes: readonly string[];
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
  return { subject: sub, scopes: claimedScopes(claims), claims };
}

/** Stores the caller that a token identifies; `undefined` for an anonymous one. */
export function setCaller(
  c: Context,
  caller: { readonly identity: OAuth2Identity; readonly roles: readonly string[] } | undefined,
): void {
  callerIdentity.set(c, caller?.identity);
  callerRoles.set(c, caller?.roles);
  callerScopes.set(c, caller?.identity.scopes);
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
 * Reads roles where providers usually put them: the lists `roles` and `realm_access.roles`. Values
 * of another type are ignored.
 */
export function claimedRoles({ roles, realm_access: realm }: Claims): readonly string[] {
  const inRealm: unknown = typeof realm === "object" && realm !== null && "roles" in realm
    ? realm.roles
    : undefined;
  return [...strings(roles), ...strings(inRealm)];
}

/**
 * Reads scopes: the words of `scope` (RFC 8693 §4.2, RFC 9068 §2.2.3), and `scp`, which is a list
 * at some providers, and words at others. Values of another type are ignored.
 */
function claimedScopes({ scope, scp }: Claims): readonly string[] {
  return [...new Set([...words(scope), ...words(scp), ...strings(scp)])];
}

function words(value: unknown): readonly string[] {
  return typeof value === "string" ? value.split(" ").filter(Boolean) : [];
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
