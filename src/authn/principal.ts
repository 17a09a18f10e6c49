/**
 * The caller, identified by a token of the application or of an identity provider.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { refuseUnauthenticated } from "../core/http/challenge.ts";
import type { Context } from "../core/http/context.ts";
import { hooked } from "../core/module/request_hooks.ts";
import type { Extractor } from "../core/route/extractor.ts";
import { markRequiresIdentity } from "../core/route/identity_marker.ts";
import { callerRoles, callerScopes } from "../core/route/caller.ts";
import { authentication, cachingVerifier } from "../oauth2/authentication.ts";
import type { AuthenticationOptions, TokenVerifier } from "../oauth2/authentication_options.ts";
import { OAuth2Error } from "../oauth2/ground/errors.ts";
import {
  authnIdentitySlot,
  identityOf,
  oauth2IdentitySlot,
  ownTokenSlot,
  readRoles,
  setCaller,
} from "../oauth2/identity.ts";
import type { Claims } from "../oauth2/resource_server/claims.ts";

/** The caller. */
export interface Principal {
  /** The `sub` claim of the token: never empty. */
  readonly subject: string;
  /** The roles of the token, unless a guard or middleware has set others (`callerRoles`). */
  readonly roles: readonly string[];
  /**
   * The scopes that the token grants, the words of `scope` and those in `scp`, unless a guard or
   * middleware has set others (`callerScopes`).
   */
  readonly scopes: readonly string[];
  /** All claims of the token. */
  readonly claims: Claims;
  /** Which verifier accepted the token: that of `useAuthn` or that of `useOAuth2`. */
  readonly source: "authn" | "oauth2";
}

/**
 * Extracts the caller from a token of the application (`app.useAuthn`) or of an identity provider
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
  return principalOf(c) ?? refuseUnauthenticated(c);
});

/**
 * Returns the caller, or `undefined` if the request has no valid token. It never throws, so
 * middleware can call it for every request; before authentication, it returns `undefined`.
 *
 * @example Logs who has called, and limits the requests of each caller.
 * ```ts
 * import { FwFactory, module } from "@fw/fw";
 * import { AuthnModule, JwtKey, JwtService, principalOf } from "@fw/fw/authn";
 *
 * const key = await JwtKey.generate();
 * const jwt = AuthnModule.forRoot({ issuer: "https://api.example.com", key });
 * const app = await FwFactory.create(module({ imports: [jwt] }));
 * app.useAuthn(app.get(JwtService));
 * app.use(async (c, next) => {
 *   await next();
 *   const subject = principalOf(c)?.subject ?? "anonymous";
 *   console.info(`${subject} ${c.req.method} ${c.req.path} ${c.res.status}`);
 * }, { afterAuthentication: true });
 * app.useRateLimit({ key: (c) => principalOf(c)?.subject, afterAuthentication: true });
 * ```
 */
export function principalOf(c: Context): Principal | undefined {
  const own = authnIdentitySlot.get(c);
  const identity = own ?? oauth2IdentitySlot.get(c);
  return identity && {
    ...identity,
    roles: callerRoles.get(c) ?? [],
    scopes: callerScopes.get(c) ?? [],
    source: own ? "authn" : "oauth2",
  };
}

/**
 * Returns the middleware of `app.useAuthn`: it verifies the tokens of the application and stores
 * their identity, for `Principal` and the `roles` and `scopes` of routes. Roles are read from the
 * claim `roles`. It refuses no request.
 */
export function authnMiddleware(
  service: TokenVerifier,
  { from }: AuthenticationOptions = {},
): MiddlewareHandler {
  const verifier = cachingVerifier(service);
  return hooked(authentication({
    name: "authn",
    from,
    async identify(token, c) {
      try {
        const identity = identityOf((await verifier.verify(token)).claims);
        const roles = readRoles(({ roles }) => roles, identity.claims);
        setCaller(c, { identity, roles });
        authnIdentitySlot.set(c, identity);
      } catch (error) {
        // claims are checked after the signature, so the application has issued this token
        if (error instanceof OAuth2Error && error.code === "InvalidClaim") {
          ownTokenSlot.set(c, token);
        }
        throw error;
      }
    },
  }));
}
