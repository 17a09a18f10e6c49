/**
 * Authenticating requests by their bearer tokens (RFC 6750).
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import type { MiddlewareHandler } from "hono";
import { type Challenge, challengeSlot } from "../core/http/challenge.ts";
import type { Context } from "../core/http/context.ts";
import { asError } from "../core/http/http_exception.ts";
import { requestIdSlot } from "../core/http/slot.ts";
import { callerRoles } from "../core/route/roles.ts";
import { OAuth2Error } from "./ground/errors.ts";

/**
 * Finds out who a token stands for, and stores it on the request.
 *
 * @throws {OAuth2Error} if the token does not hold
 */
export type Identify = (token: string, c: Context) => Promise<void>;

const NO_TOKEN: Challenge = {
  unauthenticated: "Bearer",
  insufficient: 'Bearer error="insufficient_scope"',
};
const INVALID_TOKEN: Challenge = { ...NO_TOKEN, unauthenticated: 'Bearer error="invalid_token"' };

const CREDENTIALS = /^bearer +([\w\-.~+/]+=*)$/i;

/**
 * Makes middleware that reads the bearer token and has the caller's identity stored. It never refuses a
 * request; failures are logged at debug, under `fw` and the given name.
 */
export function bearerAuthentication(name: string, identify: Identify): MiddlewareHandler {
  const logger = getLogger(["fw", name]);

  async function authenticate(c: Context): Promise<Challenge> {
    try {
      const token = readBearerToken(c.req.header("authorization"));
      if (token !== undefined) await identify(token, c);
      return NO_TOKEN;
    } catch (thrown) {
      const error = asError(thrown);
      logger.debug("{method} {path} has no identity: {reason}", {
        method: c.req.method,
        path: c.req.path,
        reason: error.message,
        code: error instanceof OAuth2Error ? error.code : undefined,
        claim: error instanceof OAuth2Error && error.code === "InvalidClaim"
          ? error.claim
          : undefined,
        requestId: requestIdSlot.get(c),
      });
      return isOfToken(error) ? INVALID_TOKEN : { ...NO_TOKEN, failure: error };
    }
  }

  return async function bearer(c, next) {
    const before = challengeSlot.get(c);
    const found = await authenticate(c);
    // who refuses the caller has to know that an earlier verifier could not judge the token
    const challenge = before?.failure && !callerRoles.get(c) ? before : found;
    challengeSlot.set(c, challenge);
    await next();
    if (c.res.status === 401 && !c.res.headers.has("www-authenticate")) {
      c.header("WWW-Authenticate", challenge.unauthenticated);
    }
  };
}

/**
 * Reads the token of an `Authorization` header (RFC 6750 §2.1); `undefined` if there is none of the
 * scheme `Bearer`, in whatever case.
 *
 * @throws {OAuth2Error} `Validation` if the credentials are malformed, or more than one
 */
function readBearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !/^bearer(?: |$)/i.test(authorization)) return undefined;
  const token = CREDENTIALS.exec(authorization)?.[1];
  if (token !== undefined) return token;
  const message = "Cannot read bearer token: the credentials are malformed";
  throw new OAuth2Error({ code: "Validation" }, message);
}

/** Tells whether a failure is the token's own, not that of what should have judged it. */
function isOfToken(error: unknown): boolean {
  return error instanceof OAuth2Error && error.httpStatus < 500;
}
