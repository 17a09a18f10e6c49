/**
 * Authenticating requests by their tokens.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { type Challenge, challengeSlot } from "../core/http/challenge.ts";
import { type Context, requestIdSlot } from "../core/http/context.ts";
import { asError, messageOf } from "../core/http/http_exception.ts";
import type { RequestHooks } from "../core/module/request_hooks.ts";
import { rawPath } from "../core/http/raw_path.ts";
import { callerIdentity } from "../core/route/caller.ts";
import type { TokenVerifier } from "./authentication_options.ts";
import { OAuth2Error } from "./ground/errors.ts";
import { ownTokenSlot } from "./identity.ts";
import { bearer, type TokenSource } from "./token_source.ts";

/** Options of {@linkcode authentication}. */
export interface AuthenticationSetup {
  /** The last part of the log category, after `fw`. */
  readonly name: string;
  /** Where the token of a request is; `bearer()` by default. */
  readonly from: TokenSource | undefined;
  /**
   * Verifies a token and stores the caller's identity.
   *
   * @throws {OAuth2Error} if the token is invalid
   */
  readonly identify: (token: string, c: Context) => Promise<void>;
}

/** How many verified tokens are cached unless the verifier is configured otherwise. */
const CACHED_TOKENS = 1_000;

/** Returns a verifier that caches tokens, if the given one can and is not configured otherwise. */
export function cachingVerifier(verifier: TokenVerifier): TokenVerifier {
  return verifier.cachingByDefault?.(CACHED_TOKENS) ?? verifier;
}

/**
 * Returns hooks that read the token of a request and identify the caller. They refuse no request;
 * the reason why a caller has no identity is logged at level debug. A 401 without
 * `WWW-Authenticate` gets one.
 */
export function authentication(
  { name, from = bearer(), identify }: AuthenticationSetup,
): RequestHooks<Challenge | undefined> {
  const logger = getLogger(["fw", name]);
  const { description, challenges: { insufficient, ...challenges } } = from;
  const missing: Challenge = { unauthenticated: challenges.missing, insufficient };
  const invalid: Challenge = { unauthenticated: challenges.invalid, insufficient };

  function log(c: Context, properties: Readonly<Record<string, unknown>>): void {
    logger.debug("{method} {path} has no identity: {reason}", {
      method: c.req.method,
      path: rawPath(c.req.url),
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
        reason: messageOf(error),
        code: error instanceof OAuth2Error ? error.code : undefined,
        claim: error instanceof OAuth2Error && error.code === "InvalidClaim"
          ? error.claim
          : undefined,
      });
      return isOfToken(error) ? invalid : { ...missing, failure: error };
    }
  }

  return {
    async before(c) {
      const before = challengeSlot.get(c);
      const found = await authenticate(c, before);
      const challenge = callerIdentity.get(c) ? found : combined(found, before);
      challengeSlot.set(c, challenge);
      return challenge;
    },
    after(c, challenge, failure) {
      if (failure || !challenge) return;
      if (c.res.status === 401 && !c.res.headers.has("www-authenticate")) {
        c.header("WWW-Authenticate", challenge.unauthenticated);
      }
    },
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
