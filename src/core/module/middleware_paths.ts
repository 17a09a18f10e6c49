/**
 * Warnings about the paths of middleware that miss the prefix of the application: such middleware,
 * which may protect routes, would run for none of them.
 *
 * @module
 */
import type { Hono } from "hono";
import { markOf } from "../http/matched_route.ts";
import { composePath, segmentsOf } from "../route/path.ts";
import { nameOf, type PlacedRoute, type Prefixes } from "../route/route_table.ts";
import type { Plugin } from "./plugin.ts";

/** What the paths of middleware are compared with. */
export interface ServedPaths extends Prefixes {
  /** The routes at their full paths. */
  readonly routes: readonly PlacedRoute[];
  /** Middleware and endpoints. */
  readonly plugins: readonly Plugin[];
}

/**
 * Returns a warning for each path of `app.use()` that matches no route and no endpoint, but would
 * match a route after the prefix of the application, or after that and the version.
 */
export function middlewareWarnings(router: Hono, served: ServedPaths): readonly string[] {
  const endpointPaths = router.routes.filter(({ handler }) => markOf(handler))
    .map(({ path }) => path);
  const paths = new Set(served.plugins.flatMap(({ middlewarePath }) => middlewarePath ?? []));
  const unmatched = [...paths].filter((path) =>
    !endpointPaths.some((other) => mayOverlap(path, other))
  );
  return unmatched.flatMap((path) => warningOf(path, served) ?? []);
}

function warningOf(path: string, served: ServedPaths): string | undefined {
  for (const route of served.routes) {
    const fullPath = fullPaths(path, route, served).find((it) => covers(it, route.path));
    if (fullPath === undefined) continue;
    return `The middleware at ${path} runs for no route: ${nameOf(route.bound)} is at ` +
      `${route.path}; use app.use("${fullPath}", ...)`;
  }
  return undefined;
}

/** Returns a path with the global prefix, and with the prefix and the version. */
function fullPaths(
  routePath: string,
  { versions: [version] }: PlacedRoute,
  { globalPrefix, versioning }: Prefixes,
): readonly string[] {
  const inPath = versioning?.kind === "URI" ? version : undefined;
  return [
    ...globalPrefix ? [composePath({ globalPrefix, routePath })] : [],
    ...inPath ? [composePath({ globalPrefix, version: inPath, routePath })] : [],
  ];
}

/** Checks whether a path can match both patterns. */
function mayOverlap(left: string, right: string): boolean {
  return segmentsMatch(
    left,
    right,
    (one, other) => one === other || isWildcard(one) || isWildcard(other),
  );
}

/** Checks whether each literal segment of a pattern equals that of the route. */
function covers(pattern: string, route: string): boolean {
  return segmentsMatch(pattern, route, (one, other) => one === other || isWildcard(one));
}

function segmentsMatch(
  left: string,
  right: string,
  isSame: (one: string, other: string) => boolean,
): boolean {
  const [ones, others] = [segmentsOf(left), segmentsOf(right)];
  for (let i = 0; i < Math.max(ones.length, others.length); i++) {
    const [one, other] = [ones[i], others[i]];
    if (matchesRest(one) || matchesRest(other) && one !== undefined) {
      return isSame(one ?? "*", other ?? "*");
    }
    if (one === undefined || other === undefined) return isOptional(one ?? other);
    if (!isSame(one, other)) return false;
  }
  return true;
}

/** Checks whether a segment matches any text; a constraint of a parameter can match most. */
function isWildcard(segment: string): boolean {
  return segment === "*" || segment.startsWith(":");
}

/** Checks whether a segment can match all that follow. */
function matchesRest(segment: string | undefined): boolean {
  return segment === "*" || segment?.endsWith("}") === true;
}

function isOptional(segment: string | undefined): boolean {
  return segment === "*" || segment?.endsWith("?") === true;
}
