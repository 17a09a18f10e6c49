/**
 * Rejects callers with the challenge of the authentication in use.
 *
 * @module
 */
import { type Context, type Slot, slot } from "./context.ts";
import { type HttpExceptionOptions, UnauthorizedException } from "./http_exception.ts";

/** How the caller of a request is rejected; set by the authentication middleware. */
export interface Challenge {
  /** The `WWW-Authenticate` for an unknown caller (RFC 9110 §11.6.1). */
  readonly unauthenticated: string;
  /** The `WWW-Authenticate` for a caller who lacks a role or a scope; none by default. */
  readonly insufficient?: string | undefined;
  /** Why the caller's credentials, which can be valid, could not be checked. */
  readonly failure?: Error;
}

/** The challenge of a request, set by the authentication middleware. */
export const challengeSlot: Slot<Challenge> = slot("challenge");

/**
 * Rejects an unknown caller.
 *
 * @throws {HttpException} the 401 that `create` returns, or why the credentials could
 * not be checked
 */
export function refuseUnauthenticated(
  c: Context,
  create: (options: HttpExceptionOptions) => UnauthorizedException = (options) =>
    new UnauthorizedException("An identity is required", options),
): never {
  const challenge = challengeSlot.get(c);
  throw challenge?.failure ?? create(challenge ? headers(challenge.unauthenticated) : {});
}

function headers(challenge: string): HttpExceptionOptions {
  return { headers: { "WWW-Authenticate": challenge } };
}
