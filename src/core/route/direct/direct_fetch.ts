/**
 * Answering without Hono's dispatch.
 *
 * @module
 */
import type { Handler, Hono } from "hono";
import { markOf } from "../../http/matched_route.ts";
import type { DirectRoute } from "./direct_route.ts";

/**
 * Makes a router without global middleware pass requests to these routes, by their handlers, that
 * match one of them and nothing else. The router answers all others.
 */
export function answerDirectly(router: Hono, routes: ReadonlyMap<Handler, DirectRoute>): void {
  if (router.routes.some(isGlobalMiddleware)) return;
  const { fetch } = router;
  router.fetch = (request, env, executionContext) => {
    const { method } = request;
    if (method === "HEAD") return fetch(request, env, executionContext); // it is matched as GET
    const path = router.getPath(request);
    const matched = router.router.match(method, path);
    const [[found, another]] = matched;
    // Hono adds middleware and handlers alike
    const route = found && !another ? routes.get(found[0][0] as Handler) : undefined;
    return route
      ? route({ request, env, executionContext, path, matched })
      : fetch(request, env, executionContext);
  };
}

function isGlobalMiddleware({ handler, path }: Hono["routes"][number]): boolean {
  return path === "/*" && markOf(handler) === undefined;
}
