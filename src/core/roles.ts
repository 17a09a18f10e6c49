/**
 * Role protection of routes.
 *
 * @module
 */
import type { Context } from "./context.ts";
import { ForbiddenException, UnauthorizedException } from "./http_exception.ts";

/**
 * Makes the guard of a route that declares `roles`: the caller needs any one of them. What
 * authenticates a request says so by `c.set("roles", [...])`, with an empty list for a caller who has
 * none; where nothing has, the caller is unknown.
 *
 * @throws {UnauthorizedException} 401 if the caller is unknown
 * @throws {ForbiddenException} 403 if the caller has none of the roles
 */
export function requireRoles(required: readonly string[]): (c: Context) => void {
  return (c) => {
    const roles: unknown = c.get("roles");
    if (roles === undefined) throw new UnauthorizedException("An identity is required");
    if (!Array.isArray(roles)) {
      throw new TypeError(`Cannot check roles: c.get("roles") is ${typeof roles}, not an array`);
    }
    if (!required.some((role) => roles.includes(role))) {
      throw new ForbiddenException("The role this needs is missing");
    }
  };
}
