/**
 * The options of a route.
 *
 * @module
 */
import { type BodyFormat, checkFormats } from "../http/body.ts";
import { checkNames, type Refuse, refusing } from "../../platform/option_names.ts";
import { checkPermissions, checkPipeline } from "./declared_options.ts";
import type { Extractor } from "./extractor.ts";
import type { PipelineDeclaration } from "./pipeline.ts";
import { checkRouteOpenApi, type RouteOpenApi, type RouteResponses } from "./route_openapi.ts";
import { stripping } from "../schema/schema_libraries.ts";
import { type AnySchema, isStandardSchema } from "../schema/validation.ts";
import { checkVersion, type DeclaredVersion } from "./version.ts";

/** The method of a route; `ALL` answers the methods that no other route of its path has. */
export type RouteMethod =
  | "GET"
  | "POST"
  | "PUT"
  | "PATCH"
  | "DELETE"
  | "OPTIONS"
  | "HEAD"
  | "ALL";

/** Statuses of a response with data. */
export type SuccessStatus = 200 | 201 | 202 | 203 | 206 | 207 | 208 | 226;

/** Statuses that a route can declare. */
export type RouteStatus = SuccessStatus | 204;

/**
 * What has rows with versions: a model of `@fw/fw/db` with a `version()` field, or any object that
 * names the member which is the version of a row, a whole number from 1.
 */
export interface VersionedModel {
  /** The name of the member. */
  readonly "~version": string;
}

/** The methods that demand `If-Match` of a route with `etag`. */
export type MatchingMethod = "PUT" | "PATCH" | "DELETE";

/** Options of a route. All are optional. */
export interface RouteOptions<
  Params extends AnySchema | undefined = AnySchema | undefined,
  Query extends AnySchema | undefined = AnySchema | undefined,
  Headers extends AnySchema | undefined = AnySchema | undefined,
  Body extends AnySchema | undefined = AnySchema | undefined,
  Output extends AnySchema | undefined = AnySchema | undefined,
  Args extends object = Record<string, unknown>,
  Status extends RouteStatus = RouteStatus,
  Version extends DeclaredVersion | undefined = DeclaredVersion | undefined,
  Format extends BodyFormat = BodyFormat,
  Responses extends RouteResponses = RouteResponses,
  Etag extends VersionedModel | undefined = VersionedModel | undefined,
> extends PipelineDeclaration {
  /** Schema of the path parameters, each a percent-decoded string. */
  readonly params?: Params;
  /**
   * Schema of the query: strings, and arrays of strings for keys that repeat. One value is an array
   * too if the schema accepts nothing else.
   */
  readonly query?: Query;
  /** Schema of the headers; their names are in lower case. */
  readonly headers?: Headers;
  /** Schema of the body; a request without a body is `undefined`. */
  readonly body?: Body;
  /**
   * The accepted formats of the body; default only JSON. Repeated fields of a form are arrays; a
   * single one is an array too if the schema accepts nothing else.
   */
  readonly consumes?: readonly Format[];
  /** The largest body in bytes; default the limit of the application (1 MiB). */
  readonly bodyLimit?: number;
  /** Named extractors; their values are in the input of the handler. */
  readonly args?: { readonly [K in keyof Args]: Extractor<Args[K]> };
  /**
   * Roles of which the caller needs one: 401 for a caller who is unknown, 403 for one who has none
   * of them. Middleware and guards that authenticate requests set `callerIdentity` and
   * `callerRoles`.
   */
  readonly roles?: readonly string[];
  /**
   * Scopes (RFC 6749 §3.3) of which the caller's token needs all: 401 for a caller who is unknown,
   * else 403. Middleware and guards that authenticate requests set `callerIdentity` and
   * `callerScopes`.
   */
  readonly scopes?: readonly string[];
  /**
   * Whether it is open to callers without an identity where the application requires one of all
   * routes (`useOAuth2(verifier, { require: true })`), or its controller roles or scopes; default
   * its controller's, else `false`. Guards still stand before it.
   */
  readonly public?: boolean;
  /** Its version, or several; default its controller's. */
  readonly version?: Version;
  /** Schema of the result, which is checked and stripped to what the schema declares. */
  readonly response?: Output;
  /** Status of the response; default 200. A 204 has no body. */
  readonly status?: Status;
  /**
   * The model of the row that its handler returns. The response has an `ETag`, which consists of
   * the version of the row and a digest of the body; `GET` and `HEAD` answer 304 to
   * `If-None-Match`. `PUT`, `PATCH` and `DELETE` demand `If-Match` (428): its version is `version`
   * in the input of the handler, `undefined` for `*`, and belongs in the `where` of the update,
   * whose `Conflict` is a 412.
   */
  readonly etag?: Etag;
  /**
   * Whether its requests need an `Idempotency-Key`, by which a repetition has no further effect and
   * the same answer. Its handler runs in a transaction, which stores the answer too:
   * `JobsModule.forRoot(Db)` of `@fw/fw/jobs` provides the store. `POST`, `PUT`, `PATCH` and
   * `DELETE` can have it.
   */
  readonly idempotent?: boolean;
  /** Additions to its OpenAPI operation. */
  readonly openapi?: RouteOpenApi<Responses>;
}

const INPUT = ["params", "query", "headers", "body"] as const;

const ROUTE_OPTIONS = [
  ...INPUT,
  ...["consumes", "bodyLimit", "args", "response", "status", "etag", "idempotent", "openapi"],
  ...["roles", "scopes", "public", "version", "guards", "interceptors", "filters"],
];

/**
 * Checks the options of a route.
 *
 * @throws {TypeError} naming the route and the option, if one is unknown or invalid
 */
export function checkRouteOptions(
  options: RouteOptions,
  { method, path }: { readonly method: RouteMethod; readonly path: string },
): void {
  const refuse: Refuse = refusing(`declare ${method} ${path}`);
  checkNames(options, { known: ROUTE_OPTIONS, refuse });
  checkPermissions(options, refuse);
  checkPipeline(options, refuse);
  for (const key of [...INPUT, "response"] as const) {
    const schema = options[key];
    if (schema !== undefined && !isStandardSchema(schema)) {
      refuse(`${key} is not a Standard Schema`);
    }
  }
  checkArgs(options.args, refuse);
  if ("etag" in options) checkEtag(options, { method, refuse });
  const check = (key: string, checks: () => void) => {
    try {
      checks();
    } catch (error) {
      refuse(`${key}: ${(error as Error).message}`);
    }
  };
  check("response", () => options.response && stripping(options.response));
  check("version", () => options.version !== undefined && checkVersion(options.version));
  check("openapi", () => options.openapi && checkRouteOpenApi(options.openapi));
  checkBody(options, { method, refuse });
}

/** Checks whether a route with `etag` demands `If-Match`. */
export function demandsMatch(method: string): method is MatchingMethod {
  return method === "PUT" || method === "PATCH" || method === "DELETE";
}

function checkEtag(
  { etag, args = {} }: RouteOptions,
  { method, refuse }: { readonly method: RouteMethod; readonly refuse: Refuse },
): void {
  if (typeof etag?.["~version"] !== "string") {
    refuse("etag has no versions: it is not a model with field.version()");
  }
  if (method === "ALL" || method === "OPTIONS") refuse(`${method} has no etag`);
  if ("version" in args) refuse("args cannot contain version: etag sets it");
}

function checkArgs(args: RouteOptions["args"], refuse: Refuse): void {
  if (args === undefined) return;
  if (!isRecord(args)) refuse("args is not an object of extractors");
  for (const [key, extractor] of Object.entries(args)) {
    if (INPUT.some((name) => name === key)) {
      refuse(`args cannot contain ${key}: the name is reserved`);
    }
    if (typeof extractor !== "function") refuse(`args.${key} is not an extractor`);
  }
}

function checkBody(
  { body, consumes, bodyLimit, response, status = 200 }: RouteOptions,
  { method, refuse }: { readonly method: RouteMethod; readonly refuse: Refuse },
): void {
  if (!(Number.isInteger(status) && status >= 200 && status < 600)) {
    refuse(`status ${status} is not an integer from 200 to 599`);
  }
  if ([205, 304].includes(status)) refuse(`status ${status} has no data: return a Response`);
  if (bodyLimit !== undefined && !(Number.isSafeInteger(bodyLimit) && bodyLimit >= 0)) {
    refuse(`bodyLimit ${bodyLimit} is not a size in bytes`);
  }
  if (consumes !== undefined) checkFormats(consumes, refuse);
  if (body && (method === "GET" || method === "HEAD")) refuse(`${method} has no body`);
  if (response && status === 204) refuse("a 204 response has no body");
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
