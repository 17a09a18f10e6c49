/**
 * Protection of routes: callers have to be known, or have a role. What authenticates a request says
 * so by `c.set("roles", [...])`, with an empty list for a caller who has none; where nothing has, the
 * caller is unknown.
 *
 * @module
 */
import { refuseForRoles, refuseUnauthenticated } from "../http/challenge.ts";
import type { Context } from "../http/context.ts";

/**
 * Guards a route whose callers have to be known.
 *
 * @throws {HttpException} 401 if the caller is unknown
 */
export function requireIdentity(c: Context): void {
  if (c.get("roles") === undefined) refuseUnauthenticated(c);
}

/**
 * Makes the guard of a route that declares `roles`: the caller needs any one of them.
 *
 * @throws {HttpException} 401 if the caller is unknown, 403 if the caller has none of the roles
 */
export function requireRoles(required: readonly string[]): (c: Context) => void {
  return (c) => {
    requireIdentity(c);
    const roles: unknown = c.get("roles");
    if (!Array.isArray(roles)) {
      throw new TypeError(`Cannot check roles: c.get("roles") is ${typeof roles}, not an array`);
    }
    if (!required.some((role) => roles.includes(role))) refuseForRoles(c);
  };
}
