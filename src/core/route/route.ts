/**
 * Routes: one declaration provides the validation, the types, the protection and the OpenAPI
 * operation of a route.
 *
 * @module
 */
import type { Context } from "../http/context.ts";
import { type Refuse, refusing } from "../../platform/option_names.ts";
import type { MatchedVersion, PathParams, RouteInput, RouteOutput } from "./route_input.ts";
import type { RouteResponses } from "./route_openapi.ts";
import {
  checkRouteOptions,
  type RouteMethod,
  type RouteOptions,
  type RouteStatus,
  type VersionedModel,
} from "./route_options.ts";
import type { PlainRouteTypes, RouteTypes } from "./route_input.ts";
import type { BodyFormat } from "../http/body.ts";
import type { AnySchema } from "../schema/validation.ts";
import type { DeclaredVersion } from "./version.ts";

/**
 * A route, created by {@linkcode route}; a field of a controller. `Types` are the types of its
 * declaration, which a typed client uses.
 */
export class Route<out Types extends RouteTypes = RouteTypes> {
  /** The types of its declaration; it has no value. */
  declare readonly types?: Types;
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
    checkRouteOptions(options, { method, path });
  }
}

/**
 * Declares a route of one method; see {@linkcode route}. `Prefix` is the path before the route's
 * own, as far as its parameters are typed.
 */
export interface RouteDeclaration<Method extends RouteMethod, Prefix extends string = ""> {
  /** Declares a route with options; its handler's input and output are inferred from them. */
  <
    const Path extends string,
    Params extends AnySchema | undefined = undefined,
    Query extends AnySchema | undefined = undefined,
    Headers extends AnySchema | undefined = undefined,
    Body extends AnySchema | undefined = undefined,
    Output extends AnySchema | undefined = undefined,
    Args extends object = Record<never, never>,
    Status extends RouteStatus = 200,
    const Version extends DeclaredVersion | undefined = undefined,
    const Format extends BodyFormat = "json",
    const Responses extends RouteResponses = Record<never, never>,
    const Etag extends VersionedModel | undefined = undefined,
  >(
    path: Path,
    options: RouteOptions<
      Params,
      Query,
      Headers,
      Body,
      Output,
      Args,
      Status,
      Version,
      Format,
      Responses,
      Etag
    >,
    handler: (
      input:
        & RouteInput<`${Prefix}${Path}`, Params, Query, Headers, Body, Args>
        & MatchedVersion<Method, Etag>,
      c: Context,
    ) => RouteOutput<Output, Method, Etag> | Promise<RouteOutput<Output, Method, Etag>>,
  ): Route<{
    method: Method;
    path: Path;
    params: Params;
    query: Query;
    headers: Headers;
    body: Body;
    format: Format;
    output: Output;
    status: Status;
    version: Version;
    responses: Responses;
    etag: Etag;
  }>;
  /** Declares a route without options; its path parameters are strings. */
  <const Path extends string>(
    path: Path,
    handler: (
      input: { readonly params: PathParams<`${Prefix}${Path}`> },
      c: Context,
    ) => unknown,
  ): Route<PlainRouteTypes<Method, Path>>;
}

/**
 * The members of {@linkcode route}; `Prefix` is the path before the routes' own, as far as its
 * parameters are typed.
 */
export interface RouteDeclarations<Prefix extends string = ""> {
  /** Declares a `GET` route; it answers `HEAD` too. */
  readonly get: RouteDeclaration<"GET", Prefix>;
  /** Declares a `POST` route. */
  readonly post: RouteDeclaration<"POST", Prefix>;
  /** Declares a `PUT` route. */
  readonly put: RouteDeclaration<"PUT", Prefix>;
  /** Declares a `PATCH` route. */
  readonly patch: RouteDeclaration<"PATCH", Prefix>;
  /** Declares a `DELETE` route. */
  readonly delete: RouteDeclaration<"DELETE", Prefix>;
  /** Declares an `OPTIONS` route, instead of the response that lists the methods of the path. */
  readonly options: RouteDeclaration<"OPTIONS", Prefix>;
  /** Declares a `HEAD` route, instead of the path's `GET` route. */
  readonly head: RouteDeclaration<"HEAD", Prefix>;
  /** Declares a route of all methods that no other route of the path has. */
  readonly all: RouteDeclaration<"ALL", Prefix>;
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

function declare<Method extends RouteMethod>(method: Method): RouteDeclaration<Method> {
  return (path: string, ...rest: unknown[]): Route<never> => { // the overloads type it
    const handler = rest.at(-1) as Route["handler"]; // the overloads type it by its schemas
    const [options = {}] = rest.slice(0, -1) as readonly (RouteOptions | undefined)[]; // the route checks it
    const refuse: Refuse = refusing(`declare ${method} ${path}`);
    if (typeof handler !== "function") refuse(`the handler is ${typeof handler}`);
    if (rest.length > 2) refuse("a route takes options and a handler; put guards into the options");
    return new Route(method, path, { options, handler });
  };
}
