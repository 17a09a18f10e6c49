/**
 * The middleware of `useOAuth2` and `useRoles`.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { type Slot, slot } from "../core/http/context.ts";
import { hooked } from "../core/module/request_hooks.ts";
import { waitUntilOf } from "../platform/wait_until.ts";
import { authentication, cachingVerifier } from "./authentication.ts";
import type { AuthenticationOptions, TokenVerifier } from "./authentication_options.ts";
import {
  authnIdentitySlot,
  claimedRoles,
  identityOf,
  oauth2IdentitySlot,
  readRoles,
  type RolesReader,
  setCaller,
} from "./identity.ts";

/** Reads the roles of the caller, where `useRoles` configures it. */
const rolesReaderSlot: Slot<RolesReader> = slot("rolesReader");

/** Returns the middleware of `app.useRoles`: it comes before the tokens are verified. */
export function rolesMiddleware(reader: RolesReader): MiddlewareHandler {
  return hooked({ before: (c) => rolesReaderSlot.set(c, reader) });
}

/**
 * Returns the middleware of `app.useOAuth2`: it verifies the token of a request and stores its
 * identity, for `OAuth2Guard`, `OAuth2Principal` and the `roles` and `scopes` of routes. It refuses
 * no request: one without a valid token has no identity, and the reason is logged at level debug
 * under the category `fw.oauth2`.
 */
export function oauth2Middleware(
  verifier: TokenVerifier,
  { from }: AuthenticationOptions = {},
): MiddlewareHandler {
  const caching = cachingVerifier(verifier);
  const authenticate = authentication({
    name: "oauth2",
    from,
    async identify(token, c) {
      const { claims } = await caching.verify(token, { waitUntil: waitUntilOf(c) });
      const identity = identityOf(claims);
      const reader = rolesReaderSlot.get(c) ?? claimedRoles;
      setCaller(c, { identity, roles: readRoles(reader, identity.claims) });
      oauth2IdentitySlot.set(c, identity);
    },
  });
  return hooked({
    ...authenticate,
    before(c) {
      if (authnIdentitySlot.get(c)) return undefined; // the application has issued the token
      if (oauth2IdentitySlot.get(c)) {
        oauth2IdentitySlot.set(c, undefined); // the last verifier decides
        setCaller(c, undefined);
      }
      return authenticate.before(c);
    },
  });
}
