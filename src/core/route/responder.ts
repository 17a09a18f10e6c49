/**
 * Turns the result of a handler into a response.
 *
 * @module
 */
import type { Context } from "../http/context.ts";
import { lightResponses } from "../../platform/light_responses.ts";
import { whenReady } from "../../platform/ready.ts";
import { dtoName } from "../schema/dto.ts";
import type { RouteOptions } from "./route_options.ts";
import { MISS, validateFast } from "../schema/compiled/fast_path.ts";
import { stripping } from "../schema/schema_libraries.ts";
import { type AnySchema, issuesOf } from "../schema/validation.ts";
import type { ValidationIssue } from "../http/validation_issue.ts";

/** Turns the result of a handler into a response. */
export type Responder = (output: unknown, c: Context) => Response | Promise<Response>;

/**
 * Creates the responder of a route: data is checked against the response schema, stripped to it and
 * sent as JSON; a `Response` is sent unchanged.
 */
export function createResponder({ response: schema, status }: RouteOptions): Responder {
  const stripped = schema && stripping(schema);
  function send(data: unknown, c: Context): Response {
    if (data === undefined || status === 204) return c.body(null, status);
    const json: string | undefined = JSON.stringify(data);
    if (json === undefined) throw new TypeError(`Cannot send a ${typeof data}: it is not data`);
    // the length of the response to GET; without it, a server sends 0 (RFC 9110 §8.6)
    if (c.req.method === "HEAD") c.header("content-length", String(byteLength(json)));
    return c.body(json, status, JSON_TYPE);
  }

  return function respond(output, c) {
    if (isResponse(output)) return sendable(output, c);
    if (!schema || !stripped) return send(output, c);
    const data = validateFast(stripped, output);
    if (data !== MISS) return send(data, c);
    return whenReady(stripped["~standard"].validate(output), (result) => {
      if (!result.issues) return send(result.value, c);
      throw mismatch(schema, issuesOf(result.issues, { value: output, part: "body" }));
    });
  };
}

const JSON_TYPE = { "content-type": "application/json" };

/** The error of a handler whose result is invalid, without the values. */
function mismatch(schema: AnySchema, issues: readonly ValidationIssue[]): TypeError {
  const reasons = issues.map(({ field, message }) => field ? `${field}: ${message}` : message);
  const name = dtoName(schema) ?? "its schema";
  return new TypeError(
    `Cannot send the response: it does not satisfy ${name} (${reasons.join("; ")})`,
  );
}

/**
 * Checks whether a value is a response of any realm: the server for Node replaces the global class.
 */
function isResponse(value: unknown): value is Response {
  return value instanceof Response ||
    Object.prototype.toString.call(value) === "[object Response]";
}

/** Prepares the response of a handler, which can come from `fetch` or from an earlier request. */
function sendable(response: Response, c: Context): Response {
  const light = lightResponses();
  if (light && c.req.method !== "HEAD" && light.claim(response)) return response;
  const isRead = light?.isClaimed(response) || response.bodyUsed;
  if (isRead || response.status === 0) {
    const why = isRead ? "its body has been read" : "it is a network error";
    throw new TypeError(`Cannot send the response: ${why}`);
  }
  if (c.req.method === "HEAD" && response.body) {
    response.body.cancel().catch(() => {}); // it is not read, and its source would not end
    return new Response(null, response);
  }
  // Middleware sets headers: those of a fetched or redirecting response are immutable, and a
  // response without a body can be sent many times.
  const { status, url } = response;
  const isShared = status === 204 || status === 205 || (status >= 300 && status < 400);
  return isShared || url !== "" ? new Response(response.body, response) : response;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
