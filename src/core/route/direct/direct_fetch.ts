/**
 * Answering without Hono's dispatch.
 *
 * @module
 */
import type { Handler, Hono } from "hono";
import { markOf } from "../../http/matched_route.ts";
import type { DirectRoute } from "./direct_route.ts";

/**
 * Makes a router without global middleware answer requests directly that match one of these routes,
 * by their handlers, and nothing else. Such a request is read, validated and answered without a
 * context, which is created only for an error. The router answers all others, with the same result:
 * those that need a context, such as for a guard or middleware, and those with an unusual body.
 */
export function answerDirectly(router: Hono, routes: ReadonlyMap<Handler, DirectRoute>): void {
  if (routes.size === 0 || router.routes.some(isGlobalMiddleware)) return;
  const { fetch } = router;
  router.fetch = (request, env, executionContext) => {
    const matched = router.router.match(request.method, router.getPath(request));
    const [[found, another]] = matched;
    // Hono adds middleware and handlers alike
    const route = found && !another ? routes.get(found[0][0] as Handler) : undefined;
    return route?.({ request, env, executionContext, matched }) ??
      fetch(request, env, executionContext);
  };
}

function isGlobalMiddleware({ handler, path }: Hono["routes"][number]): boolean {
  return path === "/*" && markOf(handler) === undefined;
}
