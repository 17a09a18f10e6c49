/**
 * Who a request comes from, as a token of the application's own says.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { bearerAuthentication } from "../oauth2/bearer_authentication.ts";
import { readRoles } from "../oauth2/claimed_roles.ts";
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
    const identity = identityOf((await verifier.verify(token)).claims);
    c.set("roles", readRoles(({ roles }) => roles, identity.claims));
    c.set("authnIdentity", identity);
  });
}
