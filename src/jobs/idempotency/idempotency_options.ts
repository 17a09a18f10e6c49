/**
 * The options of routes with `idempotent`.
 *
 * @module
 */
import type { Context } from "../../core/http/context.ts";
import { ForbiddenException } from "../../core/http/http_exception.ts";
import { callerIdentity } from "../../core/route/caller.ts";
import { isJsonObject } from "../../platform/json_object.ts";
import { checkNames, refusing } from "../../platform/option_names.ts";
import { checkWholeNumbers } from "../number_options.ts";

/** Options of the routes with `idempotent`: `idempotency` of `JobsModule.forRoot`. */
export interface IdempotencyOptions {
  /**
   * How long a key is kept with its answer, in milliseconds since the start of the request; default
   * 24 hours. After that, it can be used again.
   */
  readonly keepMs?: number;
  /** The largest body of an answer in bytes; default 1 MiB. A request with a larger one fails. */
  readonly maxAnswerBytes?: number;
  /**
   * Returns the tenant of a request; by default the claim `tenant_id` of its token. A key belongs
   * to the tenant and to the identity of the caller. The function can throw to refuse the request;
   * by default, one whose claim is not a text or a number is a 403.
   */
  readonly tenant?: (c: Context) => string | number | undefined;
}

/**
 * Returns the options with their defaults.
 *
 * @throws {TypeError} if one is unknown, or the tenant is not a function
 * @throws {RangeError} if one is out of range
 */
export function checkedIdempotency(
  { keepMs = 86_400_000, maxAnswerBytes = 1_048_576, tenant = claimedTenant, ...others }:
    IdempotencyOptions = {},
): Required<IdempotencyOptions> {
  const action = "use idempotency";
  const refuse = refusing(action);
  checkNames(others, { known: ["keepMs", "maxAnswerBytes", "tenant"], refuse });
  if (typeof tenant !== "function") refuse("tenant is not a function");
  checkWholeNumbers({ keepMs, maxAnswerBytes }, { least: 1, action });
  return { keepMs, maxAnswerBytes, tenant };
}

/**
 * Returns the claim `tenant_id` of the caller's token.
 *
 * @throws {ForbiddenException} 403 if it is an array or another value that names no tenant: the
 * tenants of such callers would share keys
 */
function claimedTenant(c: Context): string | number | undefined {
  const { tenant_id: tenant } = claimsOf(c);
  if (typeof tenant === "string" || typeof tenant === "number") return tenant;
  if (tenant === undefined || tenant === null) return undefined;
  throw new ForbiddenException("The claim tenant_id is not a text or a number");
}

/** Returns the claims of the caller's token; none if nothing has verified one. */
export function claimsOf(c: Context): Readonly<Record<string, unknown>> {
  const identity: object = callerIdentity.get(c) ?? {};
  const claims: unknown = "claims" in identity ? identity.claims : undefined;
  return isJsonObject(claims) ? claims : {};
}
