/**
 * Who a request comes from, as a token of the application's own says.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { callerRoles } from "../core/route/roles.ts";
import { bearerAuthentication } from "../oauth2/bearer_authentication.ts";
import { readRoles } from "../oauth2/claimed_roles.ts";
import { OAuth2Error } from "../oauth2/ground/errors.ts";
import { identityOf, isOwnTokenSlot } from "../oauth2/identity.ts";
import { cachingVerifier, type TokenVerifier } from "../oauth2/middleware.ts";
import { authnIdentitySlot } from "./principal.ts";

/**
 * Makes the middleware that verifies the application's own tokens and stores their identity, for
 * `Principal` and, by their claim `roles`, the `roles` of routes; `app.useAuthn` installs it. It refuses
 * no request.
 */
export function installAuthnMiddleware(service: TokenVerifier): MiddlewareHandler {
  const verifier = cachingVerifier(service);
  return bearerAuthentication("authn", async (token, c) => {
    try {
      const identity = identityOf((await verifier.verify(token)).claims);
      callerRoles.set(c, readRoles(({ roles }) => roles, identity.claims));
      authnIdentitySlot.set(c, identity);
      isOwnTokenSlot.set(c, true);
    } catch (error) {
      // what is wrong with a claim was found once the signature had proved right
      isOwnTokenSlot.set(c, error instanceof OAuth2Error && error.code === "InvalidClaim");
      throw error;
    }
  });
}
