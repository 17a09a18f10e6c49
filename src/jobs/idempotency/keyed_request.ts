/**
 * Requests with an idempotency key, as two digests: of the key with its owner, and of the request.
 *
 * @module
 */
import { bytesOf } from "../../core/http/body.ts";
import type { Context } from "../../core/http/context.ts";
import { idempotencyKeyOf } from "../../core/http/idempotency_key.ts";
import { callerIdentity } from "../../core/route/caller.ts";
import { hexOf } from "../../db/connection/codecs.ts";
import { claimsOf, type IdempotencyOptions } from "./idempotency_options.ts";

/** A request with a key. */
export interface KeyedRequest {
  /** The digest of the key and of its owner: the caller and the tenant. */
  readonly id: string;
  /** The digest of the request: a repetition has the same. */
  readonly fingerprint: string;
}

/** The route of a request, by its name, and the options. */
export interface KeyedRoute extends Pick<Required<IdempotencyOptions>, "tenant"> {
  /** The name of the route. */
  readonly route: string;
}

/**
 * Reads the key and the body of a request. The keys of a caller without an identity belong to the
 * route, so that all such callers share them; requests with different credentials are different.
 *
 * @throws {HttpException} 400 if the key is missing or invalid, or the body does not arrive
 * @throws {TypeError} if the option `tenant` returns anything but a text, a number or `undefined`
 */
export async function keyedRequest(
  c: Context,
  { route, tenant }: KeyedRoute,
): Promise<KeyedRequest> {
  const key = idempotencyKeyOf(c);
  const { subject } = callerIdentity.get(c) ?? {};
  const owner = subject === undefined ? { route } : { subject, issuer: claimsOf(c)["iss"] };
  return {
    id: await digestOf({ ...owner, tenant: checkedTenant(tenant(c)), key }),
    fingerprint: await fingerprintOf(c, route),
  };
}

/** Refuses what JSON does not preserve: the tenants of such values would share keys. */
function checkedTenant(tenant: unknown): string | number | undefined {
  if (tenant === undefined || typeof tenant === "string") return tenant;
  if (typeof tenant === "number" && Number.isFinite(tenant)) return tenant;
  throw new TypeError("Cannot read the tenant: it is not a text, a finite number or undefined");
}

/** Returns the digest of the parts of a request on which its answer can depend. */
async function fingerprintOf(c: Context, route: string): Promise<string> {
  const { method, url } = c.req;
  const { pathname, search } = new URL(url);
  const type = c.req.header("content-type") ?? "";
  const body = new Uint8Array(await bytesOf(c));
  const [, boundary] = BOUNDARY.exec(type) ?? [];
  return await digestOf({
    route,
    method,
    path: pathname + search,
    match: c.req.header("if-match"),
    // an extractor or the handler may authenticate a caller who has no identity yet
    authorization: callerIdentity.get(c) ? undefined : c.req.header("authorization"),
    ...boundary === undefined
      ? { type, body: await digestOf(body) }
      : { form: await digestOf(withoutBoundary(body, boundary)) },
  });
}

/** The boundary of a form, which a client chooses anew for each repetition (RFC 2046 §5.1.1). */
const BOUNDARY = /^multipart\/.*;\s*boundary="?([^";]+)/i;

/** Decodes each byte as a character of its own. */
const LATIN_1 = new TextDecoder("latin1");

/**
 * Returns a form without its boundary where that begins a line, as elsewhere it is content; as
 * bytes, since JSON escapes control characters.
 */
function withoutBoundary(body: Uint8Array, boundary: string): Uint8Array {
  const form = `\r\n${LATIN_1.decode(body)}`;
  return new TextEncoder().encode(form.replaceAll(`\r\n--${boundary}`, "\r\n--"));
}

/** Returns the SHA-256 of bytes, or of a value as JSON, in hexadecimal. */
async function digestOf(value: object): Promise<string> {
  const bytes = value instanceof Uint8Array
    ? value as Uint8Array<ArrayBuffer>
    : new TextEncoder().encode(JSON.stringify(value));
  return hexOf(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
