/**
 * The caller, by a token of the application's own or of an identity provider.
 *
 * @module
 */
import { refuseUnauthenticated } from "../core/http/challenge.ts";
import type { Context } from "../core/http/context.ts";
import type { Extractor } from "../core/route/extractor.ts";
import { markRequiresIdentity } from "../core/route/identity_marker.ts";
import { callerRoles } from "../core/route/roles.ts";
import type { Claims } from "../oauth2/resource_server/claims.ts";
import { authnIdentitySlot, oauth2IdentitySlot } from "../oauth2/identity.ts";

/** The caller. */
export interface Principal {
  /** The `sub` claim of the token: never empty. */
  readonly subject: string;
  /** The roles that the token gives. */
  readonly roles: readonly string[];
  /** All claims of the token. */
  readonly claims: Claims;
  /** Whose token it is: the application's own, or that of an identity provider. */
  readonly source: "authn" | "oauth2";
}

/**
 * Extracts the caller from a token of the application's own (`app.useAuthn`) or of an identity provider
 * (`app.useOAuth2`).
 *
 * @example
 * ```ts
 * import { controller, route } from "@fw/fw";
 * import { Principal } from "@fw/fw/authn";
 *
 * class MeController extends controller() {
 *   me = route.get("/me", { args: { me: Principal } }, ({ me }) => ({
 *     subject: me.subject,
 *     source: me.source,
 *   }));
 * }
 * ```
 *
 * @throws {UnauthorizedException} 401 if the request has no valid token of either
 */
export const Principal: Extractor<Principal> = markRequiresIdentity((c: Context): Principal => {
  const own = authnIdentitySlot.get(c);
  const identity = own ?? oauth2IdentitySlot.get(c);
  if (!identity) refuseUnauthenticated(c);
  return { ...identity, roles: callerRoles.get(c) ?? [], source: own ? "authn" : "oauth2" };
});
