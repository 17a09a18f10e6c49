/**
 * Which of the application's routes a request matched, for logs, metrics and traces.
 *
 * @module
 */
import type { Handler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Context } from "./context.ts";

/** A route as the outside sees it: bounded in number, so fit for a metric's label. */
export interface MatchedRoute {
  /** The HTTP method it was declared with, or `"ALL"`. */
  readonly method: string;
  /** The full path pattern, such as `/api/v1/users/:id`. */
  readonly path: string;
}

const ROUTE = Symbol("fw.route");

/** Marks a Hono handler as the end of a route, in place. */
export function markRoute<H extends Handler>(handler: H, route: MatchedRoute): H {
  return Object.assign(handler, { [ROUTE]: route });
}

/**
 * Gives the route that answered the request, or would have if no middleware had answered before it.
 * `undefined` when no route matches (404, 405).
 */
export function matchedRoute(c: Context): MatchedRoute | undefined {
  const matched = matchedRoutes(c).map(({ handler }) => routeOf(handler));
  // a HEAD route stands among those of GET, and lets other requests pass
  const answers = (route: MatchedRoute | undefined) =>
    route !== undefined && (route.method !== "HEAD" || c.req.method === "HEAD");
  const reached = matched[c.req.routeIndex];
  return answers(reached) ? reached : matched.find(answers);
}

/** Gives the route a handler was marked with. */
export function routeOf(handler: unknown): MatchedRoute | undefined {
  return (handler as { [ROUTE]?: MatchedRoute } | undefined)?.[ROUTE];
}
