/**
 * Converts errors to responses: problem documents of RFC 9457.
 *
 * @module
 */
import { getLogger } from "@logtape/logtape";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type Context, requestIdSlot } from "./context.ts";
import { HttpException, isHttpMapped, messageOf, UnexpectedException } from "./http_exception.ts";
import { MAX_ISSUES, type ValidationIssue } from "./validation_issue.ts";
import { matchedRoute } from "./matched_route.ts";
import { pathReference, rawPath } from "./raw_path.ts";
import { dropBody } from "./sendable.ts";
import { errorStatusText } from "./status_text.ts";

/** The media type of problem documents (RFC 9457 §6.1). */
export const PROBLEM_MEDIA_TYPE = "application/problem+json";

/** The body of every error response, sent as `application/problem+json` (RFC 9457 §3). */
export interface Problem {
  /** `about:blank`: the status is the kind of problem. */
  readonly type: "about:blank";
  /** The name of the status. */
  readonly title: string;
  /** The status, 400 to 599. */
  readonly status: number;
  /** The exception's message; a fixed sentence for a 5xx that is concealed. */
  readonly detail?: string;
  /** The path of the request, percent-encoded, without its query. */
  readonly instance: string;
  /** The id of the request, if the application sets ids. */
  readonly requestId?: string;
  /** The reasons, one for each invalid value; at most 100. */
  readonly errors?: readonly ValidationIssue[];
}

/** How much of an error is sent. */
export interface ProblemOptions {
  /** Whether all 5xx are concealed. */
  readonly production?: boolean;
  /** Whether a 5xx has the message also of an error that is not an {@linkcode HttpException}. */
  readonly development?: boolean;
}

/** The `detail` of a concealed 5xx. */
const CONCEALED_DETAIL = "The server could not answer this request";

/**
 * Converts any thrown value to a response, and logs the errors of the server (5xx) with the id of
 * the request, under the category `fw.http`.
 */
export function problemResponse(
  thrown: unknown,
  c: Context,
  { production = false, development = false }: ProblemOptions = {},
): Response {
  const exception = HttpException.from(thrown);
  const { status, errors, headers } = exception;
  const requestId: unknown = requestIdSlot.get(c); // any middleware can set Hono's variable
  const isUnexpected = exception instanceof UnexpectedException || isHttpMapped(thrown);
  const concealed = status >= 500 && (production || isUnexpected && !development);
  const detail = concealed ? CONCEALED_DETAIL : messageOf(exception);
  const problem: Problem = {
    type: "about:blank",
    title: errorStatusText(status),
    status,
    ...(detail && { detail }),
    instance: pathReference(c.req.url),
    ...(typeof requestId === "string" && { requestId }),
    ...(errors && !concealed && { errors: errors.slice(0, MAX_ISSUES) }),
  };
  if (status >= 500) logFailure(exception, c);
  forgetRepresentation(c);
  // Hono would keep either these or those that middleware has set
  for (const each of cookiesOf(thrown, headers)) c.header("set-cookie", each, { append: true });
  const others = Object.entries(headers).filter(([name]) => !isCookie(name));
  return c.body(JSON.stringify(problem), status as ContentfulStatusCode, {
    ...Object.fromEntries(others),
    "content-type": PROBLEM_MEDIA_TYPE,
  });
}

/** Returns the cookies of an error: of several of an `HTTPException`, its headers have the last. */
function cookiesOf(thrown: unknown, headers: HttpException["headers"]): readonly string[] {
  const sent = thrown instanceof HTTPException && thrown.res?.headers.getSetCookie();
  return sent || Object.keys(headers).filter(isCookie).map((name) => headers[name]!);
}

function isCookie(name: string): boolean {
  return name.toLowerCase() === "set-cookie";
}

/** Headers that describe the body of the failed response, and not that of the problem. */
const REPRESENTATION = [
  "cache-control",
  "cdn-cache-control",
  "content-digest",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-length",
  "content-location",
  "content-range",
  "etag",
  "expires",
  "last-modified",
  "repr-digest",
  "surrogate-control",
  "transfer-encoding",
];

/**
 * Removes them, except a `Cache-Control` with `no-store`: the problem can contain what it protects.
 */
function forgetRepresentation(c: Context): void {
  const { headers } = c.res;
  const kept = new Headers(headers);
  for (const name of REPRESENTATION) {
    if (!/\bno-store\b/i.test(kept.get(name) ?? "")) kept.delete(name);
  }
  dropBody(c.res);
  c.res = undefined; // otherwise Hono merges its headers into those of the next response
  c.res = new Response(null, { headers: kept });
}

function logFailure(exception: HttpException, c: Context): void {
  const requestId = requestIdSlot.get(c);
  const template = "{method} {path} failed with {status}: {error}";
  const error = exception instanceof UnexpectedException
    ? exception.cause
    : exception.cause ?? exception;
  const level = isAbandoned(error, c.req.raw.signal) ? "debug" : "error";
  getLogger(["fw", "http"])[level](requestId ? `${template} (request {requestId})` : template, {
    method: c.req.method,
    path: rawPath(c.req.url),
    route: matchedRoute(c)?.path,
    status: exception.status,
    error,
    requestId,
  });
}

/** Checks whether an error was caused by the client, who has left and gets no response. */
function isAbandoned(error: unknown, { aborted, reason }: AbortSignal): boolean {
  let cause = error;
  for (let depth = 0; aborted && cause && depth < 10; depth++) { // causes can be a circle
    if (cause === reason) return true;
    cause = (cause as Error).cause;
  }
  return false;
}
