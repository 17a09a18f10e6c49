/**
 * The guards of routes with `roles` and `scopes`, which boot loads if a route needs them.
 *
 * @module
 */
import { challengeSlot } from "../http/challenge.ts";
import type { Context } from "../http/context.ts";
import { ForbiddenException } from "../http/http_exception.ts";
import { callerRoles, callerScopes, requireIdentity } from "./caller.ts";
import type { CanActivateFn } from "./pipeline.ts";

/**
 * Returns the guard of a route with `roles`, of which the caller needs one.
 *
 * @throws {HttpException} 401 if the caller is unknown, 403 if the caller lacks all of the roles
 */
export function requireRoles(required: readonly string[]): CanActivateFn {
  return (c) => {
    const roles = namesIn("callerRoles", c);
    return required.some((role) => roles.includes(role)) ||
      refuse("A required role is missing", challengeOf(c));
  };
}

/**
 * Returns the guard of a route with `scopes`, of which the caller needs all. The challenge of its
 * 403 names them (RFC 6750 §3.1).
 *
 * @throws {HttpException} 401 if the caller is unknown, 403 if the caller lacks one of the scopes
 */
export function requireScopes(required: readonly string[]): CanActivateFn {
  const named = `scope="${required.join(" ")}"`;
  return (c) => {
    const scopes = namesIn("callerScopes", c);
    if (required.every((scope) => scopes.includes(scope))) return true;
    const challenge = challengeOf(c);
    const separator = challenge?.includes(" ") ? ", " : " "; // of parameters, and after the scheme
    return refuse("A required scope is missing", challenge && challenge + separator + named);
  };
}

const SLOTS = { callerRoles, callerScopes };

/** Returns the roles or scopes of a caller who is known. */
function namesIn(slot: keyof typeof SLOTS, c: Context): readonly string[] {
  requireIdentity(c);
  const names: unknown = SLOTS[slot].get(c) ?? [];
  if (Array.isArray(names)) return names;
  // a text could contain the required name
  throw new TypeError(`Cannot check the caller: ${slot} is ${typeof names}, not an array`);
}

function challengeOf(c: Context): string | undefined {
  return challengeSlot.get(c)?.insufficient;
}

function refuse(message: string, challenge: string | undefined): never {
  throw new ForbiddenException(
    message,
    challenge ? { headers: { "WWW-Authenticate": challenge } } : {},
  );
}
