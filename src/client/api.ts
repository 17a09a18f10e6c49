/**
 * The API of an application as a type: its routes by method and path.
 *
 * @module
 */
import type { Module } from "../core/module/module.ts";
import type { ControllerClass } from "../core/route/controller.ts";
import type { Route } from "../core/route/route.ts";
import type { RouteMethod } from "../core/route/route_options.ts";

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

/** An API: the types of its routes by method and path, such as `GET /cats`. */
export type AnyApi = object;

/**
 * The API of a module and of those that it imports, for {@linkcode createClient}: the types of its
 * routes by method and path. Export it beside the module, and import it with `import type`: a
 * client then contains nothing of the server. Export an interface that extends it, not an alias: of
 * an alias, TypeScript instantiates all routes again for each call.
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
 * const key: keyof Api = "GET /v1/cats/:id";
 * ```
 */
export type ApiOf<M extends Module, Options extends ApiOptions = { versioning: "path" }> = ByKey<
  EndpointsOf<ControllersOf<M>, Options>
>;

/** The methods of calls. */
export type CallMethod = Exclude<RouteMethod, "ALL">;

/**
 * The paths of a method. All keys are inferred from at once: a condition for each of them would be
 * much more work for the compiler.
 */
export type PathsOf<Api, Method extends CallMethod> = PathsIn<
  keyof Api & `${Method} ${string}`,
  Method
>;

/** The paths in keys of a method. */
export type PathsIn<Keys, Method extends CallMethod> = [Keys] extends [never] ? never
  : [Keys] extends [`${Method} ${infer Path}`] ? Path
  : never;

/**
 * The types of the routes with these keys. It does not contain `keyof Api`, which TypeScript would
 * compute again for each call.
 */
export type RouteAt<Api, Key extends string> = Api extends { readonly [K in Key]: infer Types }
  ? Types
  : never;

/** The routes of an API by method and path. */
export type ByKey<E extends Endpoint> = { readonly [R in E as R["key"]]: TypesOf<R["route"]> };

/** A route with its key. */
export interface Endpoint {
  /** Its method and path. */
  readonly key: string;
  /** Its declaration, whose types are not looked at before it is called. */
  readonly route: unknown;
}

/** The types of a route. */
export type TypesOf<R> = R extends Route<infer Types> ? Types : never;

/** The controllers of modules and of their imports, as far as their types are inferred. */
export type ControllersOf<M> = M extends Module<infer Controllers, infer Imported>
  ? Module extends M ? never : Controllers[number] | ControllersOf<Awaited<Imported[number]>>
  : never;

/** The routes of controllers. */
export type EndpointsOf<C, Options extends ApiOptions> = C extends
  ControllerClass<infer Instance, infer Prefix, infer Version>
  ? RoutesIn<Instance, Start<Version, Options>, WithoutPatterns<Segments<Prefix>>, Options>[
    keyof Instance
  ]
  : never;

/** The routes of a controller by the names of their fields. */
export type RoutesIn<
  Instance,
  Version extends string,
  Prefix extends string,
  Options extends ApiOptions,
> = CommonIn<Instance, `${Version}${Prefix}`, [Version, Prefix, Options]>;

/**
 * The routes of a controller, of which most have one method, no own version and no pattern: what is
 * done for each of them is what a large API costs the compiler.
 */
export type CommonIn<Instance, Before extends string, Parts extends PathParts> = {
  [K in keyof Instance]: Instance[K] extends {
    readonly method: RouteMethod;
    readonly types?: {
      readonly method: infer Method extends CallMethod;
      readonly path: infer Path extends `/${string}`;
      readonly version: undefined;
    };
  } ? {
      readonly key: Path extends `${string}{${string}` ? KeyOf<Instance[K], Parts>
        : Path extends "/" ? `${Method} ${Before extends "" ? "/" : Before}`
        : `${Method} ${Before}${Path}`;
      readonly route: Instance[K];
    }
    : { readonly key: KeyOf<Instance[K], Parts>; readonly route: Instance[K] };
};

/** What the paths of a controller's routes are made of: its version, its prefix and the options. */
export type PathParts = readonly [version: string, prefix: string, options: ApiOptions];

/** The key of any route; never for another field. */
export type KeyOf<R, Parts extends PathParts> = R extends Route<infer Types>
  ? `${Methods[Types["method"]]} ${WholePath<
    `${Types["version"] extends undefined ? Parts[0] : Start<Types["version"], Parts[2]>}${Parts[
      1
    ]}`,
    Types["path"]
  >}`
  : never;

/** The methods of calls by that of a route. */
export type Methods = { readonly [M in CallMethod]: M } & { readonly ALL: CallMethod };

/** A path without the patterns of its parameters, from its segments before the route's own. */
export type WholePath<Before extends string, Path extends string> = Path extends
  `${string}{${string}` ? `${Before}${WithoutPatterns<Segments<Path>>}`
  : Path extends "" | "/" ? Before extends "" ? "/" : Before
  : Path extends `/${string}` ? `${Before}${Path}`
  : `${Before}/${Path}`;

/** The first segments of a version's paths, each after a slash; never, if it is not called. */
export type Start<Version, Options extends ApiOptions> = Segments<Versioned<Version, Options>>;

/** The first segments of the paths of a route's versions; never, if it is not called. */
export type Versioned<Version, Options extends ApiOptions> = Options["versioning"] extends
  { readonly only: infer Only }
  ? [Version] extends ["" | undefined] ? "" : Only extends VersionOf<Version> ? "" : never
  : [Version] extends [undefined]
    ? Options["defaultVersion"] extends string ? Options["defaultVersion"] : ""
  : VersionOf<Version>;

/** Each version of a declaration. */
export type VersionOf<Version> = Version extends readonly string[] ? Version[number]
  : Version extends string ? Version
  : never;

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
