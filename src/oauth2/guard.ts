/**
 * Letting nobody pass without a token.
 *
 * @module
 */
import type { Context } from "../core/http/context.ts";
import { markRequiresIdentity } from "../core/route/identity_marker.ts";
import type { CanActivate } from "../core/route/pipeline.ts";
import { OAuth2Principal } from "./principal.ts";

/**
 * A guard that lets a request pass if its token was verified: on a route, a controller, or all routes
 * (`app.useGlobalGuards(OAuth2Guard)`).
 *
 * @example
 * ```ts
 * import { controller, route } from "@fw/fw";
 * import { OAuth2Guard } from "@fw/fw/oauth2";
 *
 * class OrdersController extends controller("orders", { guards: [OAuth2Guard] }) {
 *   list = route.get("/", () => []);
 * }
 * ```
 */
export class OAuth2Guard implements CanActivate {
  /**
   * Lets the request pass.
   *
   * @throws {OAuth2PrincipalMissing} 401 if it has no valid token
   * @throws {OAuth2Error} `JwksFetch`, 503, if its token could not be verified for want of keys
   */
  canActivate(c: Context): void {
    OAuth2Principal(c);
  }
}

markRequiresIdentity(OAuth2Guard);
