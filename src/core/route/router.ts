/**
 * Mounts routes on Hono.
 *
 * @module
 */
import type { Handler, Hono, MiddlewareHandler } from "hono";
import type { Result } from "hono/router";
import { HonoBase } from "hono/hono-base"; // without the routers that are not used here
import { TrieRouter } from "hono/router/trie-router";
import { answers, markRoute, type MatchedRoute, type RouteMark } from "../http/matched_route.ts";
import { CONSTRAINT } from "./path.ts";

/** The methods whose matches are cached: clients can send any other. */
const METHODS: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Hono's trie router: the cost of a match does not depend on the number of routes, unlike that of
 * Hono's default router. Matches of paths without parameters are cached.
 */
class Router<T> extends TrieRouter<T> {
  readonly #literal = new Set<string>();
  /** The matches of literal paths, by method and path. */
  readonly #found: ReadonlyMap<string, Map<string, Result<T>>> = new Map(
    METHODS.map((method) => [method, new Map()]),
  );

  /** Adds a route or middleware. */
  override add(method: string, path: string, handler: T): void {
    super.add(method, path, handler);
    if (!/[:*{]/.test(path)) this.#literal.add(path);
    for (const found of this.#found.values()) found.clear();
  }

  /** Matches a path; a path that looks like a pattern, such as `/users/:id`, is taken literally. */
  override match(method: string, path: string): Result<T> {
    const cache = this.#literal.has(path) ? this.#found.get(method) : undefined;
    const known = cache?.get(path);
    if (known) return known;
    const found = super.match(method, path.replace(/\/(?:\*(?=\/|$)|:)/g, escaped));
    cache?.set(path, found);
    return found;
  }
}

/** Creates an empty Hono application: `/users` and `/users/` are the same path. */
export function createRouter(): Hono {
  return new HonoBase({ strict: false, router: new Router() });
}

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

function escaped(found: string): string {
  return found === "/*" ? "/%2A" : "/%3A";
}
