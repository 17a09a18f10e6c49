/**
 * Claims that the parameters of a login ask for. The browser can change the parameters, and the
 * provider can ignore them: the id_token must state what they ask for.
 *
 * @module
 */
import { ForbiddenException } from "../../core/http/http_exception.ts";
import type { IdTokenClaims } from "../client/id_token.ts";
import { type Refuse, refusing } from "../../platform/option_names.ts";

/** What the id_token of a login must state, beyond what that of every login does. */
export interface RequestedClaims {
  /** The parameter `max_age`: how long ago the user may have logged in at the provider. */
  readonly maxAgeSeconds?: number;
  /** The parameter `hd` of Google: the domain of the user's organisation, or `*` for any. */
  readonly hostedDomain?: string;
}

const refuse: Refuse = refusing("log users in");

/**
 * Returns what parameters ask for.
 *
 * @throws {TypeError} if one is invalid, or no id_token is expected, which could state it
 */
export function requestedClaims(
  { max_age, hd }: Readonly<Record<string, string>>,
  { hasIdToken }: { readonly hasIdToken: boolean },
): RequestedClaims {
  for (const [name, value] of Object.entries({ max_age, hd })) {
    if (value === undefined || hasIdToken) continue;
    refuse(`${name} needs the scope openid, whose id_token states it`);
  }
  if (max_age !== undefined && !/^\d{1,15}$/.test(max_age)) {
    refuse("max_age is not a whole number of seconds");
  }
  if (hd === "") refuse("hd is empty");
  return {
    ...(max_age !== undefined && { maxAgeSeconds: Number(max_age) }),
    ...(hd !== undefined && { hostedDomain: hd.toLowerCase() }),
  };
}

/**
 * Checks the domain of the user's organisation, which personal accounts have none of.
 *
 * @throws {ForbiddenException} 403 if it is another one
 */
export function checkHostedDomain(
  claims: IdTokenClaims | undefined,
  expected: string | undefined,
): void {
  if (expected === undefined) return;
  const hd = claims?.hd;
  const isDomain = typeof hd === "string" && hd !== "";
  if (isDomain && (expected === "*" || hd.toLowerCase() === expected)) return;
  throw new ForbiddenException("The account is not of the required domain");
}
