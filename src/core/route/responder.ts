/**
 * Turns the result of a handler into a response.
 *
 * @module
 */
import type { Context } from "../http/context.ts";
import { dropBody, IS_BUN, isResponse, sendable } from "../http/sendable.ts";
import { whenReady } from "../../platform/ready.ts";
import { dtoName } from "../schema/dto.ts";
import { effectsOf } from "../schema/response_effects.ts";
import type { RouteOptions } from "./route_options.ts";
import { MISS, validateFast } from "../schema/compiled/fast_path.ts";
import { stripping } from "../schema/schema_libraries.ts";
import { issuesOf } from "../schema/validation.ts";

/** Turns the result of a handler into a response. */
export type Responder = (output: unknown, c: Context) => Response | Promise<Response>;

/** Turns data into the text of a response, `null` if it has no body. */
export type Serializer = (data: unknown) => string | null | Promise<string | null>;

/** Options of {@linkcode createResponder}. */
export interface ResponderOptions {
  /**
   * Whether no middleware sees its responses, so that nothing changes their headers, and none of
   * them is to HEAD.
   */
  readonly isFinal?: boolean;
  /** Sets the `ETag` of JSON, and checks whether the client has it. */
  readonly isKnown?: ((json: string, c: Context) => boolean | Promise<boolean>) | undefined;
}

const FINAL = { method: "GET", isFinal: true } as const;

/**
 * Creates the responder of a route: data is checked against the response schema, stripped to it and
 * sent as JSON; a `Response` is sent unchanged.
 */
export function createResponder(
  options: RouteOptions,
  { isFinal = false, isKnown }: ResponderOptions = {},
): Responder {
  const { status, response } = options;
  const { setHeaders } = effectsOf(response);
  const serialize = createSerializer(options);
  function send(json: string | null, c: Context): Response {
    if (json === null || status === 204) return c.body(null, status);
    // the length of the response to GET; without it, a server sends 0 (RFC 9110 §8.6)
    if (!isFinal && c.req.method === "HEAD") c.header("content-length", String(byteLength(json)));
    return c.body(json, status, JSON_TYPE);
  }
  function sendUnknown(json: string | null, c: Context): Response | Promise<Response> {
    if (!isKnown || json === null) return send(json, c);
    return whenReady(isKnown(json, c), (known) => known ? c.body(null, 304) : send(json, c));
  }
  return function respond(output, c) {
    if (!isResponse(output)) {
      return whenReady(serialize(output), (json) => {
        if (isLate(c)) return c.body(null); // nobody gets it, nor its headers
        setHeaders?.(output, c);
        return sendUnknown(json, c);
      });
    }
    if (!isLate(c)) return sendable(output, isFinal ? FINAL : c.req); // reading it creates it
    dropBody(output);
    return output;
  };
}

/**
 * Creates what checks the data of a route against its response schema, strips it and serializes it;
 * `what` names it in errors.
 */
export function createSerializer(
  { response: schema, status }: Pick<RouteOptions, "response" | "status">,
  what = "response",
): Serializer {
  const stripped = schema && stripping(schema);
  function textOf(data: unknown): string | null | Promise<never> {
    if (data === undefined || status === 204) return null;
    let json: string | undefined;
    try {
      json = JSON.stringify(data);
    } catch (error) {
      return refuse(data, error);
    }
    // JSON has nothing of a `Map`, and the bytes of an array as an object
    const isEmpty = json === "{}" && Object.prototype.toString.call(data) !== "[object Object]";
    const isOther = isEmpty || ArrayBuffer.isView(data) || data instanceof Error;
    return json === undefined || isOther ? refuse(data) : json;
  }
  return function serialize(output) {
    if (!schema || !stripped) return textOf(output);
    const data = validateFast(stripped, output);
    if (data !== MISS) return textOf(data);
    return whenReady(stripped["~standard"].validate(output), (result) => {
      if (!result.issues) return textOf(result.value);
      const issues = issuesOf(result.issues, { value: output, part: "body" });
      const reasons = issues.map(({ field, message }) => field ? `${field}: ${message}` : message);
      const name = dtoName(schema) ?? "its schema";
      // without the values
      throw new TypeError(
        `Cannot send the ${what}: it does not satisfy ${name} (${reasons.join("; ")})`,
      );
    });
  };
}

/** The header of JSON. */
const JSON_TYPE = { "content-type": "application/json" } as const;

/** Returns the init of JSON responses, in the form from which the runtime creates them fastest. */
export function jsonInit(status: number | undefined): ResponseInit {
  const headers = IS_BUN ? new Headers(JSON_TYPE) : JSON_TYPE;
  return { headers, ...status && { status } };
}

/** Checks whether an error, such as that of a time limit, was answered before the handler ended. */
export function isLate({ finalized, error }: Context): boolean {
  return finalized && error !== undefined;
}

async function refuse(data: unknown, cause?: unknown): Promise<never> {
  throw (await import("../http/unsendable.ts")).unsendable(data, cause);
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
