/**
 * Authenticating requests by their bearer tokens (RFC 6750).
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import type { Challenge } from "../core/challenge.ts";
import type { Context } from "../core/context.ts";
import { OAuth2Error } from "./errors.ts";

/**
 * Finds out who a token stands for, and stores it on the request.
 *
 * @throws {OAuth2Error} if the token does not hold
 */
export type Identify = (token: string, c: Context) => Promise<void>;

const NO_TOKEN: Challenge = {
  unknown: "Bearer",
  insufficient: 'Bearer error="insufficient_scope"',
};
const INVALID_TOKEN: Challenge = { ...NO_TOKEN, unknown: 'Bearer error="invalid_token"' };

const CREDENTIALS = /^bearer +([\w\-.~+/]+=*)$/i;

/** What stores an identity under a name: `authn` has tokens of the application's own, which go first. */
export type IdentitySource = "authn" | "oauth2";

/**
 * Makes middleware that identifies the bearer of a request's token, and refuses nobody. What fails is
 * logged at level debug, under `fw` and the name of the source. Middleware of `oauth2` leaves alone
 * what is a token of the application's own, though it be over; where there is more of it, the last one
 * decides.
 */
export function bearerAuthentication(
  source: IdentitySource,
  identify: Identify,
): MiddlewareHandler {
  const logger = getLogger(["fw", source]);

  async function authenticate(c: Context): Promise<Challenge> {
    try {
      const token = readBearerToken(c.req.header("authorization"));
      if (token === undefined) return NO_TOKEN;
      await identify(token, c);
      if (source === "authn") c.set("isOwnToken", true);
      return NO_TOKEN;
    } catch (error) {
      if (source === "authn") c.set("isOwnToken", isOfOwnKey(error));
      logger.debug("{method} {path} has no identity: {reason}", {
        method: c.req.method,
        path: c.req.path,
        reason: error instanceof Error ? error.message : String(error),
        code: error instanceof OAuth2Error ? error.code : undefined,
        claim: error instanceof OAuth2Error && error.code === "InvalidClaim"
          ? error.claim
          : undefined,
        requestId: c.get("requestId"),
      });
      return isOfToken(error) ? INVALID_TOKEN : { ...NO_TOKEN, failure: error as Error };
    }
  }

  return async function bearer(c, next) {
    if (source === "oauth2") {
      if (c.get("isOwnToken")) return await next();
      if (c.get("oauth2Identity")) forget(c);
    }
    const before: Challenge | undefined = c.get("challenge");
    const found = await authenticate(c);
    const challenge = before?.failure && !c.get("roles") ? before : found;
    c.set("challenge", challenge);
    await next();
    if (c.res.status === 401 && !c.res.headers.has("www-authenticate")) {
      c.header("WWW-Authenticate", challenge.unknown);
    }
  };
}

/**
 * Reads the token of an `Authorization` header (RFC 6750 §2.1); `undefined` if there is none of the
 * scheme `Bearer`, in whatever case.
 *
 * @throws {OAuth2Error} `Validation` if the credentials are malformed, or more than one
 */
export function readBearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^bearer(?: |$)/i.test(authorization)) return undefined;
  const token = CREDENTIALS.exec(authorization)?.[1];
  if (token !== undefined) return token;
  const message = "Cannot read bearer token: the credentials are malformed";
  throw new OAuth2Error({ code: "Validation" }, message);
}

/** Forgets whom another verifier has identified. */
function forget(c: Context): void {
  c.set("oauth2Identity", undefined);
  c.set("roles", undefined);
}

/** Tells whether a token, which does not hold, claims a key of the application's own. */
function isOfOwnKey(error: unknown): boolean {
  return error instanceof OAuth2Error &&
    (error.code === "InvalidClaim" || error.code === "InvalidSignature");
}

/** Tells whether a failure is the token's own, not that of what should have judged it. */
function isOfToken(error: unknown): boolean {
  return error instanceof OAuth2Error && error.httpStatus < 500;
}
