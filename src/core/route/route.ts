/**
 * Routes: one declaration provides the validation, the types, the protection and the OpenAPI
 * operation of a route.
 *
 * @module
 */
import type { BodyFormat } from "../http/body.ts";
import type { Context } from "../http/context.ts";
import { checkNames, checkPermissions } from "./declared_options.ts";
import type { Extractor } from "./extractor.ts";
import type { PipelineDeclaration } from "./pipeline.ts";
import { checkRouteOpenApi, type RouteOpenApi } from "./route_openapi.ts";
import type { PathParams, RouteInput, RouteOutput } from "./route_input.ts";
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

/** Options of a route. All are optional. */
export interface RouteOptions<
  Params extends AnySchema | undefined = AnySchema | undefined,
  Query extends AnySchema | undefined = AnySchema | undefined,
  Headers extends AnySchema | undefined = AnySchema | undefined,
  Body extends AnySchema | undefined = AnySchema | undefined,
  Output extends AnySchema | undefined = AnySchema | undefined,
  Args extends object = Record<string, unknown>,
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
  readonly consumes?: readonly BodyFormat[];
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
  readonly version?: DeclaredVersion | undefined;
  /** Schema of the result, which is checked and stripped to what the schema declares. */
  readonly response?: Output;
  /** Status of the response; default 200. A 204 has no body. */
  readonly status?: SuccessStatus | 204;
  /** Additions to its OpenAPI operation. */
  readonly openapi?: RouteOpenApi;
}

/**
 * A route, created by {@linkcode route}; a field of a controller.
 */
export class Route {
  /** Its method. */
  readonly method: RouteMethod;
  /** Its path after the controller's prefix. */
  readonly path: string;
  /** Its options. */
  readonly options: RouteOptions;
  /** Its handler, which is called with validated input. */
  readonly handler: (input: Readonly<Record<string, unknown>>, c: Context) => unknown;

  /** Creates a route; use {@linkcode route}. */
  constructor(
    method: RouteMethod,
    path: string,
    { options, handler }: Pick<Route, "options" | "handler">,
  ) {
    this.method = method;
    this.path = path;
    this.options = options;
    this.handler = handler;
    checkOptions(this);
  }
}

/**
 * Declares a route of one method; see {@linkcode route}. `Prefix` is the path before the route's
 * own, as far as its parameters are typed.
 */
export interface RouteDeclaration<Prefix extends string = ""> {
  /** Declares a route with options; its handler's input and output are inferred from them. */
  <
    const Path extends string,
    Params extends AnySchema | undefined = undefined,
    Query extends AnySchema | undefined = undefined,
    Headers extends AnySchema | undefined = undefined,
    Body extends AnySchema | undefined = undefined,
    Output extends AnySchema | undefined = undefined,
    Args extends object = Record<never, never>,
  >(
    path: Path,
    options: RouteOptions<Params, Query, Headers, Body, Output, Args>,
    handler: (
      input: RouteInput<`${Prefix}${Path}`, Params, Query, Headers, Body, Args>,
      c: Context,
    ) => RouteOutput<Output> | Promise<RouteOutput<Output>>,
  ): Route;
  /** Declares a route without options; its path parameters are strings. */
  <const Path extends string>(
    path: Path,
    handler: (
      input: { readonly params: PathParams<`${Prefix}${Path}`> },
      c: Context,
    ) => unknown,
  ): Route;
}

/**
 * The members of {@linkcode route}; `Prefix` is the path before the routes' own, as far as its
 * parameters are typed.
 */
export interface RouteDeclarations<Prefix extends string = ""> {
  /** Declares a `GET` route; it answers `HEAD` too. */
  readonly get: RouteDeclaration<Prefix>;
  /** Declares a `POST` route. */
  readonly post: RouteDeclaration<Prefix>;
  /** Declares a `PUT` route. */
  readonly put: RouteDeclaration<Prefix>;
  /** Declares a `PATCH` route. */
  readonly patch: RouteDeclaration<Prefix>;
  /** Declares a `DELETE` route. */
  readonly delete: RouteDeclaration<Prefix>;
  /** Declares an `OPTIONS` route, instead of the response that lists the methods of the path. */
  readonly options: RouteDeclaration<Prefix>;
  /** Declares a `HEAD` route, instead of the path's `GET` route. */
  readonly head: RouteDeclaration<Prefix>;
  /** Declares a route of all methods that no other route of the path has. */
  readonly all: RouteDeclaration<Prefix>;
}

/**
 * Declares routes, as fields of a controller. The handler receives the validated input and Hono's
 * `Context`, and returns data (sent as JSON) or a `Response`. Paths have Hono's syntax: `:name`,
 * `:name{[0-9]+}`, `:name?`, `*`. The more specific path wins, independent of the order of
 * declaration. Every `GET` route answers `HEAD` too, and `OPTIONS` lists the methods of a path,
 * unless a route of that method is declared.
 *
 * @example
 * ```ts
 * import { controller, NotFoundException, route } from "@fw/fw";
 * import * as v from "valibot";
 *
 * const Cat = v.object({ name: v.string(), age: v.number() });
 * const cats = new Map([["tom", { name: "Tom", age: 3, owner: "never sent" }]]);
 *
 * export class CatsController extends controller("cats") {
 *   one = route.get("/:id", { response: Cat }, ({ params }) =>
 *     cats.get(params.id) ?? NotFoundException.throw("No such cat"));
 *
 *   create = route.post("/", { body: Cat, response: Cat, status: 201 }, ({ body }) => {
 *     cats.set(body.name.toLowerCase(), { ...body, owner: "unknown" });
 *     return body;
 *   });
 * }
 * ```
 */
export const route: RouteDeclarations = {
  get: declare("GET"),
  post: declare("POST"),
  put: declare("PUT"),
  patch: declare("PATCH"),
  delete: declare("DELETE"),
  options: declare("OPTIONS"),
  head: declare("HEAD"),
  all: declare("ALL"),
};

function declare(method: RouteMethod): RouteDeclaration {
  return (path: string, ...rest: unknown[]): Route => {
    const handler = rest.pop() as Route["handler"]; // the overloads type it by its schemas
    const options = (rest.pop() ?? {}) as RouteOptions;
    if (typeof handler !== "function") {
      throw new TypeError(`Cannot declare ${method} ${path}: the handler is ${typeof handler}`);
    }
    return new Route(method, path, { options, handler });
  };
}

const INPUT = ["params", "query", "headers", "body"] as const;

const OPTIONS = [
  ...INPUT,
  ...[
    "consumes",
    "bodyLimit",
    "args",
    "roles",
    "scopes",
    "public",
    "version",
    "response",
    "status",
    "openapi",
  ],
  ...["guards", "interceptors", "filters"],
];

function checkOptions({ method, path, options }: Route): void {
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot declare ${method} ${path}: ${why}`);
  };
  checkNames(options, { known: OPTIONS, refuse });
  checkPermissions(options, refuse);
  for (const key of [...INPUT, "response"] as const) {
    const schema = options[key];
    if (schema !== undefined && !isStandardSchema(schema)) {
      refuse(`${key} is not a Standard Schema`);
    }
  }
  for (const key of Object.keys(options.args ?? {})) {
    if (INPUT.some((name) => name === key)) {
      refuse(`args cannot contain ${key}: the name is reserved`);
    }
  }
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
  const { bodyLimit, status = 200 } = options;
  if (!(Number.isInteger(status) && status >= 200 && status < 600)) {
    refuse(`status ${status} is not an integer from 200 to 599`);
  }
  if (bodyLimit !== undefined && !(Number.isSafeInteger(bodyLimit) && bodyLimit >= 0)) {
    refuse(`bodyLimit ${bodyLimit} is not a size in bytes`);
  }
  if (options.consumes?.length === 0) refuse("consumes is empty, so no body could be read");
  if (options.body && (method === "GET" || method === "HEAD")) refuse(`${method} has no body`);
  if (options.response && options.status === 204) refuse("a 204 response has no body");
}
