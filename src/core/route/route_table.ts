/**
 * The table of an application's routes: their full paths, in the order a router must know them.
 *
 * @module
 */
import type { ControllerDeclaration } from "./controller.ts";
import { compareSpecificity, composePath, shapeOf } from "./path.ts";
import type { Pipeline } from "./pipeline.ts";
import type { Route, RouteMethod } from "./route.ts";
import {
  type GlobalProtection,
  protectionOf,
  rolesOf,
  type RouteProtection,
} from "./route_protection.ts";

/** A route of a controller of a module, with its controller's and its own pipeline. */
export interface BoundRoute {
  readonly module: string;
  readonly controller: ControllerDeclaration;
  /** The name of the controller's field. */
  readonly handler: string;
  readonly route: Route;
  readonly pipeline: Pipeline;
}

/** What stands before the paths of all controllers. */
export interface Prefixes {
  readonly globalPrefix?: string | undefined;
  /** The version of controllers that declare none. */
  readonly defaultVersion?: string | undefined;
}

/** A route at its full path. */
export interface PlacedRoute {
  readonly method: RouteMethod;
  /** The full path pattern. */
  readonly path: string;
  readonly bound: BoundRoute;
}

/** A route as `app.routes()` lists it. */
export interface RouteInfo {
  /** Its method. */
  readonly method: RouteMethod;
  /** Its full path pattern. */
  readonly path: string;
  /** Where it was declared: `Module.Controller.handler`. */
  readonly handler: string;
  /** How it is protected. */
  readonly protection: RouteProtection;
  /** The roles of which a caller needs one. */
  readonly roles: readonly string[];
}

/**
 * Places routes at their full paths, the more specific before the less.
 *
 * @throws {TypeError} if two routes have one method and one path, naming both
 */
export function placeRoutes(
  routes: readonly BoundRoute[],
  { globalPrefix, defaultVersion }: Prefixes = {},
): readonly PlacedRoute[] {
  const taken = new Map<string, PlacedRoute>();
  for (const bound of routes) {
    const { prefix, version = defaultVersion } = bound.controller;
    const { method } = bound.route;
    const parts = { globalPrefix, version, controllerPrefix: prefix, routePath: bound.route.path };
    const placed = { method, path: composePath(parts), bound };
    const key = `${method} ${shapeOf(placed.path)}`;
    const other = taken.get(key);
    if (other) {
      throw new TypeError(
        `Cannot mount ${nameOf(bound)}: ${nameOf(other.bound)} has ${method} ${other.path} already`,
      );
    }
    taken.set(key, placed);
  }
  return [...taken.values()].sort((a, b) =>
    compareSpecificity(a.path, b.path) || methodRank(a.method) - methodRank(b.method)
  );
}

/** Tells of placed routes what they are and how they are protected. */
export function listRoutes(
  placed: readonly PlacedRoute[],
  global: GlobalProtection,
): readonly RouteInfo[] {
  return placed.map(({ method, path, bound }) => ({
    method,
    path,
    handler: nameOf(bound),
    protection: protectionOf(bound, global),
    roles: rolesOf(bound),
  }));
}

/** Names a route by where it was declared: `UsersModule.UsersController.create`. */
export function nameOf({ module, controller, handler }: BoundRoute): string {
  return `${module}.${controller.name}.${handler}`;
}

/** A HEAD route goes before the GET route that would answer for it, and ALL after every other. */
function methodRank(method: RouteMethod): number {
  return method === "HEAD" ? 0 : method === "ALL" ? 2 : 1;
}
