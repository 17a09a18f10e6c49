/**
 * Responses that the application did not create for this request alone, or does not send.
 *
 * @module
 */
import { lightResponses } from "../../platform/light_responses.ts";
import { cancellableBody } from "./cancellable_body.ts";

/**
 * Checks whether a value is a response of any realm: the server for Node replaces the global class.
 */
export function isResponse(value: unknown): value is Response {
  return value instanceof Response ||
    Object.prototype.toString.call(value) === "[object Response]";
}

/**
 * Returns a response of a filter or middleware, which JavaScript and values of the type `any` can
 * replace: a server would send anything else as an empty 200.
 *
 * @throws {TypeError} if it is another value
 */
export function checkedResponse(value: unknown, source: string): Response {
  if (isResponse(value)) return value;
  return refuse(`${source} returned ${typeof value}, not a Response`);
}

/**
 * Marks a response that was sent with a body. On Bun, where a body without a content type cannot be
 * detected, it holds a copy of the original headers, or `false` if nothing changes them.
 */
const SENT = Symbol("fw.sent");

/** Whether the runtime is Bun, where reading one header creates the `Headers`. */
export const IS_BUN: boolean = "Bun" in globalThis;

/** A response, and its mark. */
interface MarkedResponse extends Response {
  [SENT]?: boolean | Headers | undefined;
}

/** How a response is sent. */
export interface SendableOptions {
  /** The method of the request. */
  readonly method: string;
  /** Whether nothing changes its headers before they are sent. */
  readonly isFinal?: boolean;
}

/**
 * Prepares the response of a handler, a filter or middleware to a request; it can come from `fetch`
 * or from an earlier request. One with a body is for one request, as middleware sets headers on it.
 *
 * @throws {TypeError} if it was sent to another request, its body has been read, or it is a network
 * error
 */
export function sendable(
  response: MarkedResponse,
  { method, isFinal = false }: SendableOptions,
): Response {
  const mark = response[SENT];
  if (mark !== undefined) return copyOfSent(response, mark);
  const isHead = method === "HEAD";
  if (!isHead && lightResponses()?.isSendable(response)) return markSent(response);
  if (response.bodyUsed) refuse("its body has been read");
  if (response.status === 0) refuse("it is a network error");
  return isHead ? withoutBody(response) : withOwnHeaders(response, isFinal);
}

/** Allows a response that leaves an application to be that of another one, or of its own. */
export function clearSentMark(response: MarkedResponse): Response {
  if (response[SENT] !== undefined) response[SENT] = undefined;
  return response;
}

/**
 * Returns a copy of a response without a body that was sent.
 *
 * @throws {TypeError} if it has a body, which belongs to another request
 */
function copyOfSent(response: Response, mark: boolean | Headers): Response {
  if (response.bodyUsed) refuse("its body has been read");
  if (mark === true || response.body !== null) refuse("it was sent to another request");
  const { status, statusText } = response;
  return new Response(null, { status, statusText, headers: mark || response.headers });
}

function markSent(response: MarkedResponse, mark: MarkedResponse[typeof SENT] = true): Response {
  response[SENT] = mark; // a private symbol
  return response;
}

function refuse(why: string): never {
  throw new TypeError(`Cannot send the response: ${why}`);
}

/** Returns the response to HEAD; Hono sends no body either, but does not cancel it. */
export function withoutBody(response: Response): Response {
  if (response.body !== null) markSent(response);
  dropBody(response);
  return withHeadersOf(response, null);
}

/**
 * Returns a response whose headers belong to this request, as middleware sets some: those of a
 * fetched response are immutable, and a response without a body can be a constant that answers many
 * requests, each of which would get the cookies of those before it.
 */
function withOwnHeaders(response: Response, isFinal: boolean): Response {
  if (response.status === 101) return response; // of one request, which it upgrades
  if (hasBody(response) && !isFetched(response)) {
    if (IS_BUN && isFinal) return markSent(response, false);
    const isCertain = !IS_BUN || response.headers.has("content-type");
    return markSent(response, isCertain || new Headers(response.headers));
  }
  const { body } = response; // that of a redirection can be a text
  if (body === null) return withHeadersOf(response, null);
  markSent(response);
  return markSent(withHeadersOf(response, body));
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
  cancellableBody(response)?.cancel().catch(() => {}); // somebody may be reading it
}

/** The statuses without a body, beside redirections (RFC 9110 §15). */
const NO_CONTENT: readonly number[] = [204, 205];

/**
 * Checks for a body, as far as that does not change it: the getter makes a stream of a text, which
 * has no length, and on Bun no content type. On Bun only the status is checked, so `true` may be
 * wrong for a response without a content type.
 */
function hasBody(response: Response): boolean {
  const { status } = response;
  if (NO_CONTENT.includes(status) || (status >= 300 && status < 400)) return false;
  const light = lightResponses();
  if (light) return light.hasBody(response);
  return IS_BUN || response.headers.has("content-type") || response.body !== null;
}
