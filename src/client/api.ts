/**
 * The API of an application as a type: its routes by method and path.
 *
 * @module
 */
import type { Module } from "../core/module/module.ts";
import type { ControllerClass } from "../core/route/controller.ts";
import type { Route } from "../core/route/route.ts";
import type { RouteMethod } from "../core/route/route_options.ts";
import type { RouteTypes } from "../core/route/route_input.ts";
import type { DeclaredVersion } from "../core/route/version.ts";

/** How requests name a version; by default in the path, if one is declared. */
export interface ApiOptions {
  /**
   * `"path"` for `enableUriVersioning`; the version whose routes are called, such as
   * `{ only: "v2" }`, for the other kinds, whose header the client sends by its `headers`.
   */
  readonly versioning: "path" | { readonly only: string };
  /** The default version of the application, if it has one. */
  readonly defaultVersion?: string;
}

/** An API with the routes that any module may have. */
export type AnyApi = Readonly<Record<Exclude<RouteMethod, "ALL">, object>>;

/**
 * The API of a module and of those that it imports, for {@linkcode createClient}: for each method,
 * the types of its routes by path. Export it beside the module, and import it with `import type`:
 * a client then contains nothing of the server. An interface that extends it costs the compiler
 * half of an alias of it, as TypeScript does not instantiate the routes again for each call.
 * Modules and controllers whose types are not inferred, such as the result of a function that
 * returns `Module`, have no routes in it.
 *
 * @example
 * ```ts
 * import { controller, module, route } from "@fw/fw";
 * import type { ApiOf } from "@fw/fw/client";
 *
 * class CatsController extends controller("cats", { version: "v1" }) {
 *   one = route.get("/:id", ({ params }) => params.id);
 * }
 * const AppModule = module({ controllers: [CatsController] });
 *
 * export interface Api extends ApiOf<typeof AppModule> {}
 * const path: keyof Api["GET"] = "/v1/cats/:id";
 * ```
 */
export type ApiOf<M extends Module, Options extends ApiOptions = { versioning: "path" }> = ByMethod<
  EndpointsOf<ControllersOf<M>, Options>
>;

/**
 * The types of a route. A condition on the path defers the look-up until the path is known:
 * otherwise TypeScript instantiates the types of all routes again for each call.
 */
export type RouteAt<Api extends AnyApi, Method extends keyof AnyApi, Path> = [Path] extends
  [infer P extends keyof Api[Method]] ? Api[Method][P] : never;

/** The routes of an API by method and path. */
export type ByMethod<E extends Endpoint> = {
  readonly [M in keyof AnyApi]: {
    readonly [R in E as R["method"] extends M | "ALL" ? R["path"] : never]: R["types"];
  };
};

/** A route with its path. */
export interface Endpoint<
  Method extends RouteMethod = RouteMethod,
  Path extends string = string,
  Types extends RouteTypes = RouteTypes,
> {
  /** Its method. */
  readonly method: Method;
  /** Its whole path. */
  readonly path: Path;
  /** The types of its declaration. */
  readonly types: Types;
}

/** The controllers of a module and of its imports, as far as their types are inferred. */
export type ControllersOf<M> = M extends Module<infer Controllers, infer Imported> ?
    | Controllers[number]
    | (Module extends Imported[number] ? never : ControllersOf<Awaited<Imported[number]>>)
  : never;

/** The routes of controllers. */
export type EndpointsOf<C, Options extends ApiOptions> = C extends
  ControllerClass<infer Instance, infer Prefix, infer Version>
  ? RoutesIn<Instance, Segments<Prefix>, Start<Version, Options>, Options>[keyof Instance]
  : never;

/** The routes of a controller by the names of their fields. */
export type RoutesIn<
  Instance,
  Prefix extends string,
  Version extends string,
  Options extends ApiOptions,
> = {
  [K in keyof Instance]: Instance[K] extends Route<infer Types> ? Endpoint<
      Types["method"],
      WholePath<
        `${Types["version"] extends undefined ? Version
          : Start<Types["version"], Options>}${Prefix}`,
        Types["path"]
      >,
      Types
    >
    : never;
};

/** A path without the patterns of its parameters, from its segments before the route's own. */
export type WholePath<Before extends string, Path extends string> = Path extends
  `${string}{${string}` ? WithoutPatterns<`${Before}${Segments<Path>}`>
  : Path extends "" | "/" ? Before extends "" ? "/" : WithoutPatterns<Before>
  : Path extends `/${string}` ? WithoutPatterns<`${Before}${Path}`>
  : WithoutPatterns<`${Before}/${Path}`>;

/** The first segments of a version's paths, each after a slash; never, if it is not called. */
export type Start<Version, Options extends ApiOptions> = Segments<Versioned<Version, Options>>;

/** The first segments of the paths of a route's versions; never, if it is not called. */
export type Versioned<Version, Options extends ApiOptions> = Options["versioning"] extends
  { readonly only: infer Only } ? (undefined extends Version ? ""
    : Only extends VersionOf<Version & DeclaredVersion> ? ""
    : never)
  : undefined extends Version
    ? (Options["defaultVersion"] extends string ? Options["defaultVersion"] : "")
  : VersionOf<Version & DeclaredVersion>;

/** Each version of a declaration. */
export type VersionOf<Version extends DeclaredVersion> = Version extends readonly string[]
  ? Version[number]
  : Version;

/** Segments with a slash before them, and none after them. */
export type Segments<Path extends string> = Path extends "" ? ""
  : Path extends `/${infer Rest}` ? Segments<Rest>
  : Path extends `${infer Rest}/` ? Segments<Rest>
  : `/${Path}`;

/** A path without the patterns of its parameters. */
export type WithoutPatterns<Path extends string> = Path extends `${string}{${string}` ? Plain<Path>
  : Path;

/** A path, each of whose segments is without its pattern. */
export type Plain<Path extends string> = Path extends `/${infer Head}/${infer Tail}`
  ? `/${WithoutPattern<Head>}${Plain<`/${Tail}`>}`
  : Path extends `/${infer Last}` ? `/${WithoutPattern<Last>}`
  : Path;

/** A segment without the pattern of its parameter. */
export type WithoutPattern<Segment extends string> = Segment extends `${infer Name}{${string}}?`
  ? `${Name}?`
  : Segment extends `${infer Name}{${string}}` ? Name
  : Segment;
