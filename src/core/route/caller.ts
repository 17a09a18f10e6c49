/**
 * The caller of a request: the identity, the roles and the scopes that routes can require.
 *
 * @module
 */
import { refuseUnauthenticated } from "../http/challenge.ts";
import { type Context, type Slot, slot } from "../http/context.ts";

/** Who the caller of a request is. */
export interface CallerIdentity {
  /** The name of the caller, such as the id of a user or of an API key: never empty. */
  readonly subject: string;
}

/**
 * The identity of the caller, which `require: true` and the `roles` and `scopes` of routes need.
 * `useOAuth2` and `useAuthn` set it; so do middleware and guards that authenticate requests in
 * another way. Where nothing sets it, the caller is unknown, regardless of roles and scopes.
 *
 * @example
 * ```ts
 * import { callerIdentity, callerRoles, type Context, controller, route } from "@fw/fw";
 *
 * function apiKey(c: Context) {
 *   if (c.req.header("x-api-key") === "secret") {
 *     callerIdentity.set(c, { subject: "reports" });
 *     callerRoles.set(c, ["admin"]);
 *   }
 *   return true; // `roles` refuses unknown callers
 * }
 * class AdminController extends controller("", { guards: [apiKey] }) {
 *   figures = route.get("/figures", { roles: ["admin"] }, () => ({ users: 2 }));
 * }
 * ```
 */
export const callerIdentity: Slot<CallerIdentity> = slot("callerIdentity");

/**
 * The roles of the caller, which the `roles` of a route are compared with; none by default. They
 * do not identify a caller: see {@linkcode callerIdentity}.
 */
export const callerRoles: Slot<readonly string[]> = slot("callerRoles");

/**
 * The scopes that the caller's token or key was granted, which the `scopes` of a route are compared
 * with; none by default. They do not identify a caller: see {@linkcode callerIdentity}.
 */
export const callerScopes: Slot<readonly string[]> = slot("callerScopes");

/**
 * Guards a route that needs an identity.
 *
 * @throws {HttpException} 401 if the caller is unknown
 */
export function requireIdentity(c: Context): true {
  const identity = callerIdentity.get(c) ?? refuseUnauthenticated(c);
  if (typeof identity.subject === "string" && identity.subject) return true;
  throw new TypeError("Cannot identify the caller: callerIdentity has no subject");
}
