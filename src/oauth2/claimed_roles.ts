/**
 * The roles that a token gives its bearer.
 *
 * @module
 */
import type { Claims } from "./resource_server/claims.ts";

/**
 * Reads the roles of a caller from the claims of a verified token: a list of strings, or `undefined` for
 * none. Anything else is an error, so that a claim may be given as it is.
 */
export type RolesReader = (claims: Claims) => unknown;

/**
 * Reads the roles of a caller. None are `undefined` to a reader that finds no claim.
 *
 * @throws {TypeError} if the reader gives anything else than a list of strings
 */
export function readRoles(reader: RolesReader, claims: Claims): readonly string[] {
  const roles = reader(claims) ?? [];
  if (Array.isArray(roles) && roles.every((role) => typeof role === "string")) return roles;
  throw new TypeError("Cannot read roles: what was read is no list of strings");
}

/**
 * Reads roles where providers usually write them: the lists `roles` and `realm_access.roles`, and the
 * words of `scope` (RFC 8693 §4.2, RFC 9068 §2.2.3). What has another shape is left out.
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
