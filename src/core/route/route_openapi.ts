/**
 * Additions of a route to its OpenAPI operation, which schemas and guards describe otherwise.
 *
 * @module
 */
import { type Deprecation, deprecationHeaders } from "../http/deprecation.ts";
import { checkNames } from "../../platform/option_names.ts";
import { type AnySchema, isStandardSchema } from "../schema/validation.ts";

/** Responses by status: their descriptions, or more. */
export type RouteResponses = Readonly<Record<number, string | RouteResponse>>;

/** Additions of a route to its OpenAPI operation. */
export interface RouteOpenApi<Responses extends RouteResponses = RouteResponses> {
  /** One line; default: the handler's name in words. */
  readonly summary?: string;
  /** A longer text in CommonMark. */
  readonly description?: string;
  /** Default: the controller's tag, else the first segment of the path. */
  readonly tag?: string;
  /**
   * Alternative security requirements: each has schemes by name, with their scopes, which are
   * needed together; `[]` for no requirement. Default: inferred from guards, roles and scopes,
   * if the document does so.
   */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** A unique name; default `Module.Controller.handler`. */
  readonly operationId?: string;
  /**
   * Its responses by status, in addition to the declared one; without `response`, a status below
   * 400 replaces it. A description alone keeps the usual body: `response`, or a problem document.
   */
  readonly responses?: Responses;
  /**
   * Whether it is deprecated, optionally since and until when. Its responses then have the headers
   * `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).
   */
  readonly deprecated?: boolean | Deprecation;
  /** Whether the document omits it; `false` by default. */
  readonly hidden?: boolean;
}

/** A response of a route. */
export interface RouteResponse {
  /** Its meaning, in CommonMark. */
  readonly description: string;
  /** Schema of its body, for the document only: it is not checked. */
  readonly schema?: AnySchema;
  /**
   * The media type of its body; `application/json` by default. Without a schema the body is text.
   */
  readonly contentType?: string;
  /**
   * Of 101: the schema of each message that the server receives by the WebSocket, for a typed
   * client; `upgradeWebSocket` checks messages by the same object as `messages`.
   */
  readonly receives?: AnySchema;
  /** Of 101: the schema of each message that the server sends. */
  readonly sends?: AnySchema;
  /** The meanings of its headers, by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

const ADDITIONS = [
  ...["summary", "description", "tag", "security", "operationId", "responses", "deprecated"],
  "hidden",
];

function refuse(why: string): never {
  throw new TypeError(why);
}

/**
 * Checks the additions of a route.
 *
 * @throws {TypeError} if one is invalid
 */
export function checkRouteOpenApi(additions: RouteOpenApi): void {
  checkNames(additions, { known: ADDITIONS, refuse });
  const { responses = {}, deprecated, hidden, operationId, summary, security = [] } = additions;
  for (const [status, response] of Object.entries(responses)) {
    if (!/^[1-5]\d\d$/.test(status)) refuse(`${status} is not a status`);
    const { description, schema, receives, sends, contentType } = typeof response === "string"
      ? { description: response } as RouteResponse
      : response ?? {};
    if (typeof description !== "string") refuse(`${status} has no description`);
    for (const it of [schema, receives, sends]) {
      if (it !== undefined && !isStandardSchema(it)) {
        refuse(`the schema of ${status} is not a Standard Schema`);
      }
    }
    if (contentType === "") refuse(`the contentType of ${status} is empty`);
    const hasBody = schema || contentType;
    if (hasBody && /^(1..|204|205|304)$/.test(status)) refuse(`${status} has no body`);
    if ((receives || sends) && status !== "101") refuse(`${status} has no messages`);
  }
  if (!Array.isArray(security) || !security.every(isRequirement)) {
    refuse("security is not a list of schemes with their scopes");
  }
  if (operationId === "") refuse("operationId is empty");
  if (summary === "") refuse("summary is empty");
  if (![undefined, true, false].includes(hidden)) refuse("hidden is not a boolean");
  checkDeprecation(deprecated);
}

function checkDeprecation(deprecated: unknown): void {
  if (deprecated === undefined || typeof deprecated === "boolean") return;
  if (typeof deprecated !== "object" || deprecated === null) {
    refuse("deprecated is neither a boolean nor an object");
  }
  checkNames(deprecated, {
    known: ["since", "sunset", "link"],
    refuse: (why) => refuse(`deprecated.${why}`),
  });
  deprecationHeaders(deprecated);
}

function isRequirement(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every(Array.isArray);
}
