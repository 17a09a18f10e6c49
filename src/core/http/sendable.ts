/**
 * Responses that the application did not create for this request alone, or does not send.
 *
 * @module
 */
import { lightResponses } from "../../platform/light_responses.ts";
import type { Context } from "./context.ts";

/**
 * Checks whether a value is a response of any realm: the server for Node replaces the global class.
 */
export function isResponse(value: unknown): value is Response {
  return value instanceof Response ||
    Object.prototype.toString.call(value) === "[object Response]";
}

/**
 * Prepares the response of a handler, a filter or middleware, which can come from `fetch` or from
 * an earlier request.
 *
 * @throws {TypeError} if its body has been read, or it is a network error
 */
export function sendable(response: Response, c: Context): Response {
  const light = lightResponses();
  if (light && c.req.method !== "HEAD" && light.claim(response)) return response;
  const isRead = light?.isClaimed(response) || response.bodyUsed;
  if (isRead || response.status === 0) {
    const why = isRead ? "its body has been read" : "it is a network error";
    throw new TypeError(`Cannot send the response: ${why}`);
  }
  return c.req.method === "HEAD" ? withoutBody(response) : withOwnHeaders(response);
}

/** Returns the response to HEAD; Hono sends no body either, but does not cancel it. */
export function withoutBody(response: Response): Response {
  dropBody(response);
  return withHeadersOf(response, null);
}

/**
 * Returns a response whose headers belong to this request, as middleware sets some: those of a
 * fetched response are immutable, and a response without a body can be a constant that answers many
 * requests, each of which would get the cookies of those before it.
 */
function withOwnHeaders(response: Response): Response {
  if (response.status === 101) return response; // of one request, which it upgrades
  const isShared = !hasBody(response) || isFetched(response); // of a redirection, with its body
  return isShared ? withHeadersOf(response, response.body) : response;
}

function isFetched({ url }: Response): boolean {
  return url !== "";
}

/** Copies a response, without the fields of another body, which `fetch` has decoded. */
function withHeadersOf(response: Response, body: ReadableStream | null): Response {
  const copy = new Response(body, response);
  if (isFetched(response) && copy.headers.has("content-encoding")) {
    for (const name of ["content-encoding", "content-length"]) copy.headers.delete(name);
  }
  return copy;
}

/** Cancels the body of a response that is not sent: its source would never end. */
export function dropBody(response: Response): void {
  response.body?.cancel().catch(() => {}); // somebody may be reading it
}

/** The statuses without a body, beside redirections (RFC 9110 §15). */
const NO_CONTENT: readonly number[] = [204, 205];

/**
 * Checks for a body, as far as that does not change it: the getter makes a stream of a text, which
 * has no length, and on Bun no content type. There, only the status is checked.
 */
function hasBody(response: Response): boolean {
  const { status, headers } = response;
  if (NO_CONTENT.includes(status) || (status >= 300 && status < 400)) return false;
  const light = lightResponses();
  if (light) return light.hasBody(response);
  return "Bun" in globalThis || headers.has("content-type") || response.body !== null;
}
