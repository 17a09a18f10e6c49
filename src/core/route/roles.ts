/**
 * Protection of routes by the caller's identity or roles.
 *
 * @module
 */
import { refuseForRoles, refuseUnauthenticated } from "../http/challenge.ts";
import { type Context, type Slot, slot } from "../http/context.ts";

/**
 * The roles of the caller, which the `roles` of a route are compared with. Middleware and guards
 * that authenticate requests set them: an empty list for a caller without roles. Where nothing sets
 * them, the caller is unknown.
 *
 * @example
 * ```ts
 * import { callerRoles, type Context, controller, route } from "@fw/fw";
 *
 * function apiKey(c: Context) {
 *   if (c.req.header("x-api-key") === "secret") callerRoles.set(c, ["admin"]);
 *   return true;
 * }
 * class AdminController extends controller("", { guards: [apiKey] }) {
 *   figures = route.get("/figures", { roles: ["admin"] }, () => ({ users: 2 }));
 * }
 * ```
 */
export const callerRoles: Slot<readonly string[]> = slot("callerRoles");

/**
 * Guards a route that needs an identity.
 *
 * @throws {HttpException} 401 if the caller is unknown
 */
export function requireIdentity(c: Context): true {
  if (callerRoles.get(c) === undefined) refuseUnauthenticated(c);
  return true;
}

/**
 * Returns the guard of a route with `roles`, of which the caller needs one.
 *
 * @throws {HttpException} 401 if the caller is unknown, 403 if the caller lacks all of the roles
 */
export function requireRoles(required: readonly string[]): (c: Context) => true {
  return (c) => {
    requireIdentity(c);
    const roles: unknown = callerRoles.get(c);
    if (!Array.isArray(roles)) {
      throw new TypeError(`Cannot check roles: callerRoles is ${typeof roles}, not an array`);
    }
    if (!required.some((role) => roles.includes(role))) refuseForRoles(c);
    return true;
  };
}
