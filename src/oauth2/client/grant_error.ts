/**
 * Reading what a server says of a request that it refuses.
 *
 * @module
 */
import type { GrantError } from "../ground/errors.ts";
import { scrubBeginning, withoutSent } from "./scrub.ts";

/** What stands in an error response under the names of RFC 6749. */
export interface ErrorParameters {
  /** The code. */
  readonly error?: unknown;
  /** The server's own words. */
  readonly error_description?: unknown;
  /** A page about the error. */
  readonly error_uri?: unknown;
}

/**
 * Reads an error response (RFC 6749 §4.1.2.1 and §5.2): `undefined` if it has no sound `error`. What
 * was sent, and what looks like a token, is taken out of it; of pages, only those on the web are kept.
 */
export function readGrantError(
  { error, error_description: description, error_uri: uri }: ErrorParameters,
  sent: readonly string[] = [],
): GrantError | undefined {
  if (typeof error !== "string" || !ERROR_CODE.test(error)) return undefined;
  return {
    error: withoutSent(error, sent),
    ...(typeof description === "string" ? { description: scrubBeginning(description, sent) } : {}),
    ...(isWebPage(uri) ? { uri: scrubBeginning(uri, sent) } : {}),
  };
}

/** The grammar of RFC 6749 §5.2, with a length that no code comes near. */
const ERROR_CODE = /^[\x20-\x21\x23-\x5B\x5D-\x7E]{1,100}$/;

function isWebPage(uri: unknown): uri is string {
  return typeof uri === "string" && URL.canParse(uri) && /^https?:$/.test(new URL(uri).protocol);
}
