/**
 * Who a request comes from, as a token of the application's own says.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { bearerAuthentication } from "../oauth2/bearer_authentication.ts";
import { readRoles } from "../oauth2/claimed_roles.ts";
import { OAuth2Error } from "../oauth2/ground/errors.ts";
import { identityOf } from "../oauth2/identity.ts";
import { cachingVerifier, type TokenVerifier } from "../oauth2/middleware.ts";

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
      c.set("roles", readRoles(({ roles }) => roles, identity.claims));
      c.set("authnIdentity", identity);
      c.set("isOwnToken", true);
    } catch (error) {
      // what is wrong with a claim was found once the signature had proved right
      c.set("isOwnToken", error instanceof OAuth2Error && error.code === "InvalidClaim");
      throw error;
    }
  });
}
