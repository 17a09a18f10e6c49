/**
 * Who a request comes from, as a token of the application's own says.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { middlewarePlugin, type Plugin } from "../core/module/plugin.ts";
import { callerRoles } from "../core/route/roles.ts";
import { OAuth2Error } from "../oauth2/ground/errors.ts";
import { authnIdentitySlot, identityOf, ownTokenSlot, readRoles } from "../oauth2/identity.ts";
import {
  authentication,
  type AuthenticationOptions,
  cachingVerifier,
  type TokenVerifier,
} from "../oauth2/middleware.ts";
import { bearer } from "../oauth2/token_source.ts";

/** Returns the plugin of {@linkcode authnMiddleware}. */
export function authnPlugin(service: TokenVerifier, options?: AuthenticationOptions): Plugin {
  return middlewarePlugin("authn", authnMiddleware(service, options));
}

/**
 * Returns the middleware of `app.useAuthn`: it verifies the application's own tokens and stores their
 * identity, for `Principal` and, by their claim `roles`, the `roles` of routes. It refuses no request.
 */
export function authnMiddleware(
  service: TokenVerifier,
  { from = bearer() }: AuthenticationOptions = {},
): MiddlewareHandler {
  const verifier = cachingVerifier(service);
  return authentication({
    name: "authn",
    from,
    async identify(token, c) {
      try {
        const identity = identityOf((await verifier.verify(token)).claims);
        callerRoles.set(c, readRoles(({ roles }) => roles, identity.claims));
        authnIdentitySlot.set(c, identity);
      } catch (error) {
        // claims are checked after the signature, so this token is one of the application's own
        if (error instanceof OAuth2Error && error.code === "InvalidClaim") {
          ownTokenSlot.set(c, token);
        }
        throw error;
      }
    },
  });
}
