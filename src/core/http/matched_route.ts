/**
 * The route that a request matched, for logs, metrics and traces.
 *
 * @module
 */
import type { Handler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Context } from "./context.ts";

/** A route by its method and pattern. Their number is bounded, so they can label metrics. */
export interface MatchedRoute {
  /** The HTTP method it was declared with, or `"ALL"`. */
  readonly method: string;
  /** The full path pattern, such as `/api/v1/users/:id`. */
  readonly path: string;
}

const ROUTE = Symbol("fw.route");

/** Marks a Hono handler as that of a route, in place. */
export function markRoute<H extends Handler>(handler: H, route: MatchedRoute): H {
  return Object.assign(handler, { [ROUTE]: route });
}

/**
 * Returns the route of the request, even if middleware responded before it; `undefined` if no route
 * matches (404, 405).
 */
export function matchedRoute(c: Context): MatchedRoute | undefined {
  const matched = matchedRoutes(c).map(({ handler }) => routeOf(handler));
  // a HEAD route is registered for GET, and passes other requests on
  const answers = (route: MatchedRoute | undefined) =>
    route !== undefined && (route.method !== "HEAD" || c.req.method === "HEAD");
  const reached = matched[c.req.routeIndex];
  return answers(reached) ? reached : matched.find(answers);
}

/** Returns the route of a marked handler. */
export function routeOf(handler: unknown): MatchedRoute | undefined {
  return (handler as { [ROUTE]?: MatchedRoute } | undefined)?.[ROUTE];
}
