/**
 * The caller's identity as an argument of a handler, and the guard that requires one.
 *
 * @module
 */
import { refuseUnauthenticated } from "../core/http/challenge.ts";
import type { Context } from "../core/http/context.ts";
import type { Extractor } from "../core/route/extractor.ts";
import { type HttpExceptionOptions, UnauthorizedException } from "../core/http/http_exception.ts";
import { markRequiresIdentity } from "../core/route/identity_marker.ts";
import { type OAuth2Identity, oauth2IdentitySlot } from "./identity.ts";
import type { CanActivate } from "../core/route/pipeline.ts";

/** The identity of the caller; see the extractor of the same name. */
export type OAuth2Principal = OAuth2Identity;

/**
 * Extracts the identity of the caller's token; `optional(OAuth2Principal)` is for routes that serve
 * anonymous callers as well.
 *
 * @example
 * ```ts
 * import { controller, route } from "@fw/fw";
 * import { OAuth2Principal } from "@fw/fw/oauth2";
 *
 * class MeController extends controller() {
 *   me = route.get("/me", { args: { me: OAuth2Principal } }, ({ me }) => ({
 *     subject: me.subject,
 *   }));
 * }
 * ```
 *
 * @throws {OAuth2PrincipalMissing} 401 if the request has no valid token
 * @throws {OAuth2Error} `JwksFetch`, 503, if its token could not be verified because the keys could
 * not be fetched
 */
export const OAuth2Principal: Extractor<OAuth2Principal> = markRequiresIdentity((c: Context) =>
  oauth2Identity(c) ?? refuseUnauthenticated(c, (options) => new OAuth2PrincipalMissing(options))
);

/** Returns the identity of the caller's token, or `undefined` if the request has no valid token. */
export function oauth2Identity(c: Context): OAuth2Identity | undefined {
  return oauth2IdentitySlot.get(c);
}

/** 401: the request has no valid token (RFC 6750 §3.1). */
export class OAuth2PrincipalMissing extends UnauthorizedException {
  /** Creates the exception; by default, its challenge requires a bearer token. */
  constructor(
    { headers = { "WWW-Authenticate": "Bearer" }, ...options }: HttpExceptionOptions = {},
  ) {
    super("OAuth2 identity required", { ...options, headers });
  }
}

/**
 * A guard that lets a request pass if its token was verified: on a route, a controller, or all
 * routes (`app.useGlobalGuards(OAuth2Guard)`).
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
   * Lets the request pass if it has a valid token.
   *
   * @throws {OAuth2PrincipalMissing} 401 if it has no valid token
   * @throws {OAuth2Error} `JwksFetch`, 503, if its token could not be verified because the keys
   * could not be fetched
   */
  canActivate(c: Context): boolean {
    OAuth2Principal(c);
    return true;
  }
}

markRequiresIdentity(OAuth2Guard);
