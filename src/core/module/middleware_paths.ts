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
import { middlewarePath, type Plugin } from "./plugin.ts";

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
  const mounted = router.routes.filter(({ handler }) => markOf(handler)).map(({ path }) => path);
  const paths = new Set(served.plugins.map(middlewarePath).filter((path) => path !== undefined));
  return [...paths].filter((path) => !mounted.some((other) => mayMeet(path, other))).flatMap(
    (path) => {
      for (const route of served.routes) {
        const whole = wholePaths(path, route, served).find((whole) => covers(whole, route.path));
        if (whole === undefined) continue;
        return [
          `The middleware at ${path} runs for no route: ${nameOf(route.bound)} is at ` +
          `${route.path}; write app.use("${whole}", ...)`,
        ];
      }
      return [];
    },
  );
}

/** Returns the path of middleware after the parts that it can miss. */
function wholePaths(
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
function mayMeet(left: string, right: string): boolean {
  return meets(left, right, (one, other) => one === other || isOpen(one) || isOpen(other));
}

/** Checks whether a pattern has the literal segments of another one where it has some itself. */
function covers(pattern: string, route: string): boolean {
  return meets(pattern, route, (one, other) => one === other || isOpen(one));
}

function meets(
  left: string,
  right: string,
  isSame: (one: string, other: string) => boolean,
): boolean {
  const [ones, others] = [segmentsOf(left), segmentsOf(right)];
  for (let i = 0; i < Math.max(ones.length, others.length); i++) {
    const [one, other] = [ones[i], others[i]];
    if (isRest(one) || isRest(other) && one !== undefined) return isSame(one ?? "*", other ?? "*");
    if (one === undefined || other === undefined) return isOptional(one ?? other);
    if (!isSame(one, other)) return false;
  }
  return true;
}

/** Checks whether a segment matches any text; a constraint of a parameter can match most. */
function isOpen(segment: string): boolean {
  return segment === "*" || segment.startsWith(":");
}

/** Checks whether a segment can match all that follow. */
function isRest(segment: string | undefined): boolean {
  return segment === "*" || segment?.endsWith("}") === true;
}

function isOptional(segment: string | undefined): boolean {
  return segment === "*" || segment?.endsWith("?") === true;
}
