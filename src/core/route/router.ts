/**
 * Mounting on Hono, and the answers of the router itself: 404, 405 and `OPTIONS`.
 *
 * @module
 */
import { type Handler, Hono, type MiddlewareHandler } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import type { Context } from "../http/context.ts";
import { MethodNotAllowedException, NotFoundException } from "../http/http_exception.ts";
import { markRoute, type MatchedRoute, routeOf } from "../http/matched_route.ts";
import { CONSTRAINT } from "./path.ts";

/** The methods that are asked for when a path does not know the one of a request. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/**
 * Hono's trie router, whose match costs the same however many routes there are (that of its default
 * router grows with their number).
 */
class Router<T> extends TrieRouter<T> {
  /** Matches a path; one that spells a pattern, such as `/users/:id`, is no more than text. */
  override match(method: string, path: string): ReturnType<TrieRouter<T>["match"]> {
    return super.match(method, path.replace(/\/(?:\*(?=\/|$)|:)/g, escaped));
  }
}

/** Makes an empty Hono application: `/users` and `/users/` are one path. */
export function createRouter(): Hono {
  return new Hono({ strict: false, router: new Router() });
}

/**
 * Gives a pattern as the router needs it, with the alternatives of a constraint grouped: it would read
 * `{cat|dog}` as `^cat` or `dog$`.
 */
export function routerPattern(path: string): string {
  return path.replace(CONSTRAINT, (constraint) => `{(?:${constraint.slice(1, -1)})}`);
}

/** Mounts a handler as a route, with middleware of its own before it. */
export function mount(
  router: Hono,
  route: MatchedRoute,
  handler: Handler,
  middleware: readonly MiddlewareHandler[] = [],
): void {
  const pattern = routerPattern(route.path);
  if (route.method !== "HEAD") {
    router.on(route.method, [pattern], ...middleware, markRoute(handler, route));
    return;
  }
  // Hono dispatches HEAD as GET, so a HEAD route is a GET route that lets other requests pass
  const headOnly = (handler: Handler): Handler => (c, next) =>
    c.req.method === "HEAD" ? handler(c, next) : next();
  router.on("GET", [pattern], ...middleware.map(headOnly), markRoute(headOnly(handler), route));
}

/**
 * Answers for a request that no route has answered.
 *
 * @throws {MethodNotAllowedException} 405, with the methods the path does know in `Allow`
 * @throws {NotFoundException} 404 if it knows none
 */
export function answerUnmatched(router: Hono, c: Context): Response {
  const allowed = allowedMethods(router, c.req.path);
  if (allowed.size === 0) throw new NotFoundException("There is nothing at this path");
  const allow = METHODS.filter((method) => allowed.has(method)).join(", ");
  if (c.req.method === "OPTIONS") return c.body(null, 204, { allow });
  throw new MethodNotAllowedException(`This path knows ${allow}`, { headers: { allow } });
}

function allowedMethods({ router }: Hono, path: string): ReadonlySet<string> {
  const allowed = new Set<string>();
  for (const method of METHODS) {
    for (const [[handler]] of router.match(method, path)[0]) {
      const route = routeOf(handler);
      if (route) allowed.add(route.method === "ALL" ? method : route.method);
    }
  }
  if (allowed.has("GET")) allowed.add("HEAD");
  if (allowed.size > 0) allowed.add("OPTIONS");
  return allowed;
}

function escaped(found: string): string {
  return found === "/*" ? "/%2A" : "/%3A";
}
