/**
 * What a route says of itself in the OpenAPI document, beside what its schemas and guards say.
 *
 * @module
 */
import { type Deprecation, deprecationHeaders } from "../http/deprecation.ts";
import { type AnySchema, isStandardSchema } from "../schema/validation.ts";

/** What a route says of itself in the OpenAPI document. */
export interface RouteOpenApi {
  /** One line; default: the handler's name in words. */
  readonly summary?: string;
  /** More than one line, in CommonMark. */
  readonly description?: string;
  /** Default: the controller's tag, else the first segment of the path. */
  readonly tag?: string;
  /**
   * What its callers need, any one of these: security schemes by name, all of which are needed, with their
   * scopes; `[]` for nothing. Default: what its guards and roles say, where the document infers it.
   */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  /** A name of no other operation; default `Module.Controller.handler`. */
  readonly operationId?: string;
  /**
   * Its responses by status, in addition to the declared one, whose place one below 400 takes where there
   * is no `response`. A description alone keeps the usual body: `response`, or a problem document.
   */
  readonly responses?: Readonly<Record<number, string | RouteResponse>>;
  /**
   * Whether clients should move away from it, and since and until when: its responses have the headers
   * `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) then.
   */
  readonly deprecated?: boolean | Deprecation;
  /** Whether it is left out of the document; `false` by default. */
  readonly hidden?: boolean;
}

/** A response that a route gives. */
export interface RouteResponse {
  /** What it means. */
  readonly description: string;
  /** Schema of its body. It is told, and not checked. */
  readonly schema?: AnySchema;
  /** The media type of its body; `application/json` by default. Without a schema the body is text. */
  readonly contentType?: string;
  /** What its headers mean, by their names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Checks what a route says of itself.
 *
 * @throws {TypeError} saying what is wrong
 */
export function checkRouteOpenApi(
  { responses = {}, deprecated, operationId, summary, security = [] }: RouteOpenApi,
): void {
  for (const [status, response] of Object.entries(responses)) {
    if (!/^[1-5]\d\d$/.test(status)) throw new TypeError(`${status} is not a status`);
    const description = typeof response === "string" ? response : response?.description;
    if (typeof description !== "string") throw new TypeError(`${status} has no description`);
    const schema = typeof response === "object" ? response.schema : undefined;
    if (schema !== undefined && !isStandardSchema(schema)) {
      throw new TypeError(`the schema of ${status} is not a Standard Schema`);
    }
    if (typeof response === "object" && response.contentType === "") {
      throw new TypeError(`the contentType of ${status} is empty`);
    }
    const hasBody = typeof response === "object" && (response.schema || response.contentType);
    if (hasBody && /^(1..|204|205|304)$/.test(status)) throw new TypeError(`${status} has no body`);
  }
  if (!Array.isArray(security) || !security.every(isRequirement)) {
    throw new TypeError("security is not a list of schemes with their scopes");
  }
  if (operationId === "") throw new TypeError("operationId is empty");
  if (summary === "") throw new TypeError("summary is empty");
  if (typeof deprecated === "object") deprecationHeaders(deprecated);
}

function isRequirement(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every(Array.isArray);
}
