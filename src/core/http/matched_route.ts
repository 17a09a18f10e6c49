/**
 * The route that a request matched, for logs, metrics and traces.
 *
 * @module
 */
import type { Handler, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { Context } from "./context.ts";
import { TOO_DEEP } from "./raw_path.ts";

/** A route by its method and pattern. Their number is bounded, so they can label metrics. */
export interface MatchedRoute {
  /** The HTTP method it was declared with, or `"ALL"`. */
  readonly method: string;
  /** The full path pattern, such as `/api/v1/users/:id`. */
  readonly path: string;
  /** The largest body in bytes, if the route declares it. */
  readonly bodyLimit?: number | undefined;
}

/** Reads which version a request is for. */
export interface VersionReader {
  /** Returns the version that a request names, else the default version. */
  readonly read: (c: Context) => string | undefined;
  /** The header that names it, as in `Vary`. */
  readonly vary: string;
  /** Where a request names it, for error messages. */
  readonly where: string;
  /**
   * Marks responses as dependent on the version, in `Vary`. Requests of a version that a route does
   * not answer pass it too: the response of another route then depends on the version.
   */
  readonly varying: MiddlewareHandler;
  /** Adds the version to the media types of responses, if media types name it. */
  readonly typed?: MiddlewareHandler;
}

/** A mounted route, and the versions of requests that it answers; default all. */
export interface RouteMark {
  readonly route: MatchedRoute;
  readonly version?: (VersionReader & { readonly known: readonly string[] }) | undefined;
}

const MARK = Symbol("fw.route");

/** Marks a Hono handler as that of a route, in place. */
export function markRoute<H extends Handler>(
  handler: H,
  { version, ...route }: MatchedRoute & Pick<RouteMark, "version">,
): H {
  const mark: RouteMark = { route, version };
  return Object.assign(handler, { [MARK]: mark });
}

/** Returns the mark of a handler. */
export function markOf(handler: unknown): RouteMark | undefined {
  return (handler as { [MARK]?: RouteMark } | undefined)?.[MARK];
}

/**
 * Returns the route of the request, even if middleware responded before it; `undefined` if no route
 * matches (404, 405).
 */
export function matchedRoute(c: Context): MatchedRoute | undefined {
  if (c.req.path === TOO_DEEP) return undefined;
  const matched = matchedRoutes(c);
  const reached = markOf(matched[c.req.routeIndex]?.handler);
  if (reached && answers(reached, c)) return reached.route;
  for (const { handler } of matched) {
    const mark = markOf(handler);
    if (mark && answers(mark, c)) return mark.route;
  }
  return undefined;
}

/** Checks whether a route whose path matches answers a request. */
export function answers(mark: RouteMark, c: Context): boolean {
  // a HEAD route is registered for GET, and passes other requests on
  return (mark.route.method !== "HEAD" || c.req.method === "HEAD") && answersVersion(mark, c);
}

/** Checks whether a route answers the version of a request. */
export function answersVersion({ version }: RouteMark, c: Context): boolean {
  return version === undefined || version.known.includes(version.read(c) ?? "");
}
