/**
 * What log lines, metrics and spans report of a request.
 *
 * @module
 */
import type { Context } from "../core/http/context.ts";
import { HttpException } from "../core/http/http_exception.ts";
import type { Failure } from "../core/module/request_hooks.ts";

/** Returns the status of the response, or the one that the failure will have. */
export function statusOf(c: Context, failure: Failure | undefined): number {
  if (failure) return HttpException.from(failure.thrown).status;
  return c.finalized ? c.res.status : 500;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(
  ["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"],
);

/**
 * Returns the method if it is a registered one in common use, else `_OTHER` as in OpenTelemetry:
 * clients can invent methods, and the values of a label or attribute have to be bounded.
 */
export function knownMethod(method: string): string {
  return KNOWN_METHODS.has(method) ? method : "_OTHER";
}
