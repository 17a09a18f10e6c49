/**
 * Finding out who each request comes from.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { callerRoles } from "../core/route/roles.ts";
import { waitUntilOf } from "../platform/wait_until.ts";
import { bearerAuthentication } from "./bearer_authentication.ts";
import { claimedRoles, readRoles, type RolesReader } from "./claimed_roles.ts";
import { identityOf, isOwnTokenSlot, oauth2IdentitySlot } from "./identity.ts";
import type { VerifiedToken } from "./resource_server/verified_token_cache.ts";
import type { VerifyOptions } from "./resource_server/verify_options.ts";

/** What verifies tokens: a `JwtVerifier`, or what asks the provider about opaque ones (RFC 7662). */
export interface TokenVerifier {
  /**
   * Verifies a token.
   *
   * @throws {OAuth2Error} if it does not hold
   */
  verify(token: string, options?: VerifyOptions): Promise<Pick<VerifiedToken, "claims">>;
  /** Gives a verifier of the same tokens that keeps so many, unless it was told otherwise. */
  cachingByDefault?(cacheTokens: number): TokenVerifier;
}

/** Options of {@linkcode installOauth2Middleware}. */
export interface OAuth2MiddlewareOptions {
  /** Reads the roles of a caller; by default `roles`, `realm_access.roles` and `scope`. */
  readonly roles?: RolesReader;
}

/** How many verified tokens are kept where nothing else is said. */
const CACHED_TOKENS = 1_000;

/**
 * Makes the middleware that verifies the bearer token of a request and stores its identity, for
 * `OAuth2Guard`, `OAuth2Principal` and the `roles` of routes; `app.useOAuth2` installs it. It refuses
 * no request: one without a valid token goes on without an identity, and why is logged at level debug
 * under the category `fw.oauth2`. A 401 that says nothing of credentials gets a `WWW-Authenticate`.
 */
export function installOauth2Middleware(
  verifier: TokenVerifier,
  { roles = claimedRoles }: OAuth2MiddlewareOptions = {},
): MiddlewareHandler {
  const caching = cachingVerifier(verifier);
  const authenticate = bearerAuthentication("oauth2", async (token, c) => {
    const { claims } = await caching.verify(token, { waitUntil: waitUntilOf(c) });
    const identity = identityOf(claims);
    callerRoles.set(c, readRoles(roles, identity.claims));
    oauth2IdentitySlot.set(c, identity);
  });
  return async function oauth2(c, next) {
    if (isOwnTokenSlot.get(c)) return await next(); // a provider would be asked for a key it cannot have
    if (oauth2IdentitySlot.get(c)) {
      oauth2IdentitySlot.set(c, undefined); // the last one that is installed decides
      callerRoles.set(c, undefined);
    }
    return await authenticate(c, next);
  };
}

/** Gives what keeps the tokens it has verified, where the verifier can and was not told otherwise. */
export function cachingVerifier(verifier: TokenVerifier): TokenVerifier {
  return verifier.cachingByDefault?.(CACHED_TOKENS) ?? verifier;
}
