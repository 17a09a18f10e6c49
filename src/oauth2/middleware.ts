/**
 * Authenticating requests by their tokens.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import { type Challenge, challengeSlot } from "../core/http/challenge.ts";
import { type Context, requestIdSlot, type Slot, slot } from "../core/http/context.ts";
import { asError } from "../core/http/http_exception.ts";
import { middlewarePlugin, type Plugin } from "../core/module/plugin.ts";
import { callerRoles } from "../core/route/roles.ts";
import { waitUntilOf } from "../platform/wait_until.ts";
import { OAuth2Error } from "./ground/errors.ts";
import {
  authnIdentitySlot,
  claimedRoles,
  identityOf,
  oauth2IdentitySlot,
  ownTokenSlot,
  readRoles,
  type RolesReader,
} from "./identity.ts";
import type { VerifyOptions } from "./resource_server/key_set.ts";
import type { ValidationConfig } from "./resource_server/validation_config.ts";
import type { VerifiedToken } from "./resource_server/verified_token_cache.ts";
import { bearer, type TokenSource } from "./token_source.ts";

/**
 * Verifies tokens: a `JwtVerifier`, or one that asks the provider about opaque tokens (RFC 7662).
 */
export interface TokenVerifier {
  /**
   * Verifies a token.
   *
   * @throws {OAuth2Error} if it is invalid
   */
  verify(token: string, options?: VerifyOptions): Promise<Pick<VerifiedToken, "claims">>;
  /** Returns a verifier of the same tokens that caches them, unless it is configured otherwise. */
  cachingByDefault?(cacheTokens: number): TokenVerifier;
  /** What a token must be like. `useOAuth2` refuses one without an issuer or an audience. */
  readonly validation?: ValidationConfig;
}

/** Options of `app.useOAuth2()` and `app.useAuthn()`. */
export interface AuthenticationOptions {
  /**
   * Whether every route needs an identity unless it declares `public: true`; `false` by default.
   */
  readonly require?: boolean;
  /**
   * Where the token of a request is: `bearer()` by default, `scheme("Token")` or
   * `cookie("session")`.
   */
  readonly from?: TokenSource | undefined;
}

/** Options of {@linkcode authentication}. */
export interface AuthenticationSetup {
  /** The last part of the log category, after `fw`. */
  readonly name: string;
  /** Where the token of a request is. */
  readonly from: TokenSource;
  /**
   * Verifies a token and stores the caller's identity.
   *
   * @throws {OAuth2Error} if the token is invalid
   */
  readonly identify: (token: string, c: Context) => Promise<void>;
}

/** How many verified tokens are cached unless the verifier is configured otherwise. */
const CACHED_TOKENS = 1_000;

/** Reads the roles of the caller, where `useRoles` configures it. */
const rolesReaderSlot: Slot<RolesReader> = slot("rolesReader");

/** Returns the plugin of `app.useRoles`: it comes before the tokens are verified. */
export function rolesPlugin(reader: RolesReader): Plugin {
  const middleware: MiddlewareHandler = (c, next) => {
    rolesReaderSlot.set(c, reader);
    return next();
  };
  return { ...middlewarePlugin("authn", middleware), key: "roles" };
}

/** Returns the plugin of {@linkcode oauth2Middleware}; throws the same errors. */
export function oauth2Plugin(verifier: TokenVerifier, options?: AuthenticationOptions): Plugin {
  return middlewarePlugin("oauth2", oauth2Middleware(verifier, options));
}

/**
 * Returns the middleware of `app.useOAuth2`: it verifies the token of a request and stores its
 * identity, for `OAuth2Guard`, `OAuth2Principal` and the `roles` of routes. It refuses no request:
 * one without a valid token has no identity, and the reason is logged at level debug under the
 * category `fw.oauth2`. A 401 without `WWW-Authenticate` gets one.
 *
 * @throws {TypeError} if the `ValidationConfig` of the verifier names no issuer or no audience, and
 * does not call `anyIssuer()` or `anyAudience()` either
 */
export function oauth2Middleware(
  verifier: TokenVerifier,
  { from = bearer() }: AuthenticationOptions = {},
): MiddlewareHandler {
  checkBounds(verifier);
  const caching = cachingVerifier(verifier);
  const authenticate = authentication({
    name: "oauth2",
    from,
    async identify(token, c) {
      const { claims } = await caching.verify(token, { waitUntil: waitUntilOf(c) });
      const identity = identityOf(claims);
      const reader = rolesReaderSlot.get(c) ?? claimedRoles;
      callerRoles.set(c, readRoles(reader, identity.claims));
      oauth2IdentitySlot.set(c, identity);
    },
  });
  return async function oauth2(c, next) {
    // the application has issued the caller's token
    if (authnIdentitySlot.get(c)) return await next();
    if (oauth2IdentitySlot.get(c)) {
      oauth2IdentitySlot.set(c, undefined); // the last verifier decides
      callerRoles.set(c, undefined);
    }
    return await authenticate(c, next);
  };
}

/**
 * Prevents tokens that a provider issued to other applications from being accepted by accident.
 *
 * @throws {TypeError} if the verifier accepts tokens of any issuer or audience and does not say so
 */
export function checkBounds({ validation }: TokenVerifier): void {
  if (!validation) return;
  const { issuer, audience, acceptsAnyIssuer, acceptsAnyAudience } = validation;
  const hasIssuer = issuer !== undefined || acceptsAnyIssuer;
  const hasAudience = audience !== undefined || acceptsAnyAudience;
  if (hasIssuer && hasAudience) return;
  const missing = [...hasIssuer ? [] : ["issuer"], ...hasAudience ? [] : ["audience"]];
  const calls = missing.map((each) =>
    each === "issuer" ? "withIssuer() or anyIssuer()" : "withAudience() or anyAudience()"
  );
  const why = `its ValidationConfig names no ${missing.join(" and no ")}`;
  throw new TypeError(`Cannot use verifier: ${why}; call ${calls.join(", and ")}`);
}

/** Returns a verifier that caches tokens, if the given one can and is not configured otherwise. */
export function cachingVerifier(verifier: TokenVerifier): TokenVerifier {
  return verifier.cachingByDefault?.(CACHED_TOKENS) ?? verifier;
}

/**
 * Returns middleware that reads the token of a request and identifies the caller. It never refuses
 * a request; the reason why a caller has no identity is logged at level debug.
 *
 * @throws {TypeError} if `from` is not a token source
 */
export function authentication({ name, from, identify }: AuthenticationSetup): MiddlewareHandler {
  if (typeof from?.read !== "function" || !from.challenges) {
    throw new TypeError(
      "Cannot authenticate: from is not a TokenSource; use bearer(), scheme() or cookie()",
    );
  }
  const logger = getLogger(["fw", name]);
  const { description, challenges: { insufficient, ...challenges } } = from;
  const missing: Challenge = { unauthenticated: challenges.missing, insufficient };
  const invalid: Challenge = { unauthenticated: challenges.invalid, insufficient };

  function log(c: Context, properties: Readonly<Record<string, unknown>>): void {
    logger.debug("{method} {path} has no identity: {reason}", {
      method: c.req.method,
      path: c.req.path,
      ...properties,
      requestId: requestIdSlot.get(c),
    });
  }

  async function authenticate(c: Context, before: Challenge | undefined): Promise<Challenge> {
    try {
      const token = from.read(c);
      if (token === undefined) log(c, { reason: `the request has no ${description}` });
      // `useAuthn` has refused this token
      else if (before && token === ownTokenSlot.get(c)) return before;
      else await identify(token, c);
      return missing;
    } catch (thrown) {
      const error = asError(thrown);
      log(c, {
        reason: error.message,
        code: error instanceof OAuth2Error ? error.code : undefined,
        claim: error instanceof OAuth2Error && error.code === "InvalidClaim"
          ? error.claim
          : undefined,
      });
      return isOfToken(error) ? invalid : { ...missing, failure: error };
    }
  }

  return async function authenticated(c, next) {
    const before = challengeSlot.get(c);
    const found = await authenticate(c, before);
    const challenge = callerRoles.get(c) ? found : combined(found, before);
    challengeSlot.set(c, challenge);
    await next();
    if (c.res.status === 401 && !c.res.headers.has("www-authenticate")) {
      c.header("WWW-Authenticate", challenge.unauthenticated);
    }
  };
}

/** Combines the challenges of two verifiers when neither has identified the caller. */
function combined(found: Challenge, before: Challenge | undefined): Challenge {
  if (!before || before === found) return found;
  if (before.failure) return before; // the token may be valid: that verifier could not verify it
  const isSame = schemeOf(before) === schemeOf(found);
  const challenges = isSame ? [found] : [before, found];
  return {
    ...found,
    unauthenticated: challenges.map(({ unauthenticated }) => unauthenticated).join(", "),
  };
}

function schemeOf({ unauthenticated }: Challenge): string | undefined {
  return unauthenticated.split(" ", 1)[0];
}

/** Checks whether a failure is due to the token, and not to the verifier. */
function isOfToken(error: unknown): boolean {
  return error instanceof OAuth2Error && error.httpStatus < 500;
}
