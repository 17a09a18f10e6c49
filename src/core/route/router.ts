/**
 * Mounts routes on Hono.
 *
 * @module
 */
import type { Handler, Hono, MiddlewareHandler } from "hono";
import { answers, markRoute, type MatchedRoute, type RouteMark } from "../http/matched_route.ts";
import { CONSTRAINT } from "./path.ts";

/**
 * Returns a pattern for the router, with the alternatives of constraints grouped: the router would
 * match `{cat|dog}` as `^cat` or `dog$`.
 */
export function routerPattern(path: string): string {
  return path.replace(CONSTRAINT, (constraint) => `{(?:${constraint.slice(1, -1)})}`);
}

/** A route to mount. */
export interface MountedRoute extends MatchedRoute {
  /** Its handler. */
  readonly handler: Handler;
  /** The versions of requests that it answers; default all. */
  readonly version?: RouteMark["version"];
  /** The middleware before its handler. */
  readonly middleware?: readonly MiddlewareHandler[];
}

/** Mounts a handler as a route. */
export function mount(
  router: Hono,
  { method, path, bodyLimit, handler, version, middleware = [] }: MountedRoute,
): void {
  const mark: RouteMark = { route: { method, path }, version };
  const isForAll = method !== "HEAD" && version === undefined;
  const only = (handler: Handler): Handler =>
    isForAll ? handler : (c, next) => answers(mark, c) ? handler(c, next) : next();
  const handlers = [
    ...version ? [version.varying] : [],
    ...middleware.map(only),
    markRoute(only(handler), { method, path, bodyLimit, version }),
  ];
  // Hono dispatches HEAD as GET
  router.on(method === "HEAD" ? "GET" : method, [routerPattern(path)], ...handlers);
}
