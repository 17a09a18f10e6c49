/**
 * The table of the routes of an application: their full paths, in the order for the router.
 *
 * @module
 */
import type { ControllerDeclaration } from "./controller.ts";
import { inputOf, missingParam } from "./declared_input.ts";
import { compareSpecificity, composePath, paramNames, segmentsOf, shapeOf } from "./path.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Route } from "./route.ts";
import type { RouteMethod } from "./route_options.ts";
import {
  type GlobalProtection,
  permissionsOf,
  protectionOf,
  type RouteProtection,
} from "./route_protection.ts";
import { pathVersion, type Versioning } from "./version.ts";

/** A route of a controller of a module, with its controller's and its own pipeline. */
export interface BoundRoute {
  readonly module: string;
  readonly controller: ControllerDeclaration;
  /** The name of the controller's field. */
  readonly handler: string;
  readonly route: Route;
  readonly pipeline: Pipeline;
}

/** The prefix of all paths, and the kind of versioning. */
export interface Prefixes {
  readonly globalPrefix?: string | undefined;
  readonly versioning?: Versioning | undefined;
}

/** A route at its full path. */
export interface PlacedRoute {
  readonly method: RouteMethod;
  /** The full path pattern. */
  readonly path: string;
  /** Its versions at this path; empty for a route without a version. */
  readonly versions: readonly string[];
  readonly bound: BoundRoute;
}

/** A route as `app.routes()` lists it. */
export interface RouteInfo {
  /** Its method. */
  readonly method: RouteMethod;
  /** Its full path pattern. */
  readonly path: string;
  /** Its versions; empty for a route without a version. */
  readonly versions: readonly string[];
  /** Where it was declared: `Module.Controller.handler`. */
  readonly handler: string;
  /** How it is protected. */
  readonly protection: RouteProtection;
  /** The roles of which a caller needs one. */
  readonly roles: readonly string[];
  /** The scopes of which a caller needs all. */
  readonly scopes: readonly string[];
}

/**
 * Places routes at their full paths, the more specific before the less. One with a version goes
 * before one without, which answers all versions where these are not in the path.
 *
 * @throws {TypeError} naming the routes, if two have the same method, path and version, if one
 * declares a version and no kind of versioning is enabled, or if its `params` name a parameter that
 * its path does not have
 */
export function placeRoutes(
  routes: readonly BoundRoute[],
  { globalPrefix, versioning }: Prefixes = {},
): readonly PlacedRoute[] {
  const taken = new Map<string, PlacedRoute[]>();
  for (const bound of routes) {
    const versions = versionsOf(bound, versioning);
    if (versions.length > 0 && !versioning) {
      throw new TypeError(
        `Cannot mount ${nameOf(bound)}: it declares version ${versions.join(", ")}; call ` +
          "app.enableUriVersioning(), enableHeaderVersioning() or enableMediaTypeVersioning()",
      );
    }
    const isInPath = versioning?.kind === "URI" && versions.length > 0;
    for (const own of isInPath ? versions.map((version) => [version]) : [versions]) {
      const path = composePath({
        globalPrefix,
        version: isInPath ? own[0] : undefined,
        controllerPrefix: bound.controller.prefix,
        routePath: bound.route.path,
      });
      const placed = { method: bound.route.method, path, versions: own, bound };
      checkParams(placed);
      place(placed, taken, { isByPath: versioning?.kind === "URI" });
    }
  }
  const sorted = [...taken.values()].flat().map((placed) => ({
    placed,
    segments: segmentsOf(placed.path),
  })).sort((a, b) =>
    compareSpecificity(a.segments, b.segments) ||
    methodRank(a.placed.method) - methodRank(b.placed.method) ||
    Number(b.placed.versions.length > 0) - Number(a.placed.versions.length > 0)
  );
  return sorted.map(({ placed }) => placed);
}

/**
 * Checks that no two routes collide with any kind of versioning. Routes that declare no version can
 * have a default one, so they are checked separately.
 *
 * @throws {TypeError} naming both
 */
export function checkCollisions(routes: readonly BoundRoute[]): void {
  const undeclared = new Map<string, PlacedRoute[]>();
  const declared = new Map<string, PlacedRoute[]>();
  for (const bound of routes) {
    const { method, path: routePath, options } = bound.route;
    const { prefix: controllerPrefix, version } = bound.controller;
    const path = composePath({ controllerPrefix, routePath });
    const versions = versionsOf(bound, undefined);
    const isDeclared = (options.version ?? version) !== undefined;
    place({ method, path, versions, bound }, isDeclared ? declared : undeclared);
  }
}

/** Lists the versions of routes. */
export function versionsAmong(placed: readonly PlacedRoute[]): readonly string[] {
  return [...new Set(placed.flatMap(({ versions }) => versions))];
}

/** Describes placed routes and how they are protected. */
export function listRoutes(
  placed: readonly PlacedRoute[],
  global: GlobalProtection,
): readonly RouteInfo[] {
  return placed.map(({ method, path, versions, bound }) => ({
    method,
    path,
    versions,
    handler: nameOf(bound),
    protection: protectionOf(bound, global),
    ...permissionsOf(bound),
  }));
}

/** Returns the name of a route: `UsersModule.UsersController.create`. */
export function nameOf({ module, controller, handler }: BoundRoute): string {
  return `${module}.${controller.name}.${handler}`;
}

function checkParams({ method, path, bound }: PlacedRoute): void {
  const { params } = inputOf(bound.route.options);
  const missing = params && missingParam(params, paramNames(path));
  if (missing === undefined) return;
  throw new TypeError(
    `Cannot mount ${nameOf(bound)}: params declares ${missing}, which is not a parameter of ` +
      `${method} ${path}`,
  );
}

/**
 * Places a route beside those of its method and path, unless one has its version, or paths
 * have versions.
 */
function place(
  placed: PlacedRoute,
  taken: Map<string, PlacedRoute[]>,
  { isByPath = false }: { readonly isByPath?: boolean } = {},
): void {
  const { method, versions, bound } = placed;
  const slot = `${method} ${shapeOf(placed.path)}`;
  const held = taken.get(slot);
  if (!held) return void taken.set(slot, [placed]);
  const other = isByPath
    ? held[0]
    : held.find((other) =>
      versions.length === 0
        ? other.versions.length === 0
        : versions.some((version) => other.versions.includes(version))
    );
  if (other) {
    throw new TypeError(
      `Cannot mount ${nameOf(bound)}: ${nameOf(other.bound)} has ${method} ${other.path} already`,
    );
  }
  held.push(placed);
}

function versionsOf(
  { route, controller }: BoundRoute,
  versioning: Versioning | undefined,
): readonly string[] {
  const declared = route.options.version ?? controller.version ?? pathVersion(versioning);
  return declared === "" ? [] : [declared].flat();
}

/** Orders a HEAD route before the GET route of its path, and ALL after all others. */
function methodRank(method: RouteMethod): number {
  return method === "HEAD" ? 0 : method === "ALL" ? 2 : 1;
}
