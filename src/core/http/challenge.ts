/**
 * Refusing callers in the terms of what authenticates requests.
 *
 * @module
 */
import type { Context } from "./context.ts";
import {
  ForbiddenException,
  type HttpExceptionOptions,
  UnauthorizedException,
} from "./http_exception.ts";
import { type Slot, slot } from "./slot.ts";

/** How to refuse the caller of a request; set by what authenticates requests. */
export interface Challenge {
  /** The `WWW-Authenticate` for a caller who is unknown (RFC 9110 §11.6.1). */
  readonly unauthenticated: string;
  /** The `WWW-Authenticate` for a caller who may not do something; none by default. */
  readonly insufficient?: string | undefined;
  /** Why the caller's credentials could not be judged, though they may be right. */
  readonly failure?: Error;
}

/** The challenge of a request, set by what authenticates requests. */
export const challengeSlot: Slot<Challenge> = slot("challenge");

/**
 * Refuses a caller who is unknown.
 *
 * @throws {HttpException} 401, as `create` makes it; or why the credentials could not be judged
 */
export function refuseUnauthenticated(
  c: Context,
  create: (options: HttpExceptionOptions) => UnauthorizedException = (options) =>
    new UnauthorizedException("An identity is required", options),
): never {
  const challenge = challengeSlot.get(c);
  throw challenge?.failure ?? create(challenge ? headers(challenge.unauthenticated) : {});
}

/**
 * Refuses a caller who has none of the roles that it takes.
 *
 * @throws {ForbiddenException} 403
 */
export function refuseForRoles(c: Context): never {
  const challenge = challengeSlot.get(c);
  const options = challenge?.insufficient ? headers(challenge.insufficient) : {};
  throw new ForbiddenException("The role this needs is missing", options);
}

function headers(challenge: string): HttpExceptionOptions {
  return { headers: { "WWW-Authenticate": challenge } };
}
