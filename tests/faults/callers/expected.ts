/**
 * What each caller should get at each path, computed from `app.routes()` alone, by rules that are
 * written here a second time and not taken from the framework.
 */
import type { RouteInfo } from "../../../mod.ts";

/** Who calls. */
export interface Caller {
  readonly name: string;
  /** Whether the application should know it: its token is valid. */
  readonly isKnown: boolean;
  readonly roles?: readonly string[];
  readonly scopes?: readonly string[];
  readonly tenant?: string;
  readonly token?: string;
}

/** What is expected: a status, and the handler that is reached. */
export interface Expected {
  readonly status: number;
  readonly reached?: string;
}

/** Returns what a caller should get for a method and a path, which is decoded. */
export function expectedOf(
  routes: readonly RouteInfo[],
  { caller, method, path }: {
    readonly caller: Caller;
    readonly method: string;
    readonly path: string;
  },
): Expected {
  const given = segmentsOf(path);
  const atPath = routes.filter((route) => isAt(segmentsOf(route.path), given));
  if (atPath.length === 0) return { status: 404 };
  const best = atPath.filter((route) => answersMethod(route, method))
    .sort((a, b) => vagueness(a) - vagueness(b) || rankOf(a, method) - rankOf(b, method))[0];
  if (!best) return { status: method === "OPTIONS" ? 204 : 405 };
  const status = refusalOf(best, { caller, given });
  return status === undefined
    ? { status: 200, reached: best.handler.replace(/^\w+\./, "") }
    : { status };
}

function refusalOf(
  { path, protection, roles, scopes }: RouteInfo,
  { caller, given }: { readonly caller: Caller; readonly given: readonly string[] },
): number | undefined {
  if (protection === "public" || protection === "open") return undefined;
  if (!caller.isKnown) return 401; // also if a guard has refused it
  if (path === "/loose") return 403; // its guard accepts nobody
  const tenant = given[segmentsOf(path).indexOf(":tenant")];
  if (tenant !== undefined && caller.tenant !== tenant) return 403;
  if (roles.length > 0 && !roles.some((role) => caller.roles?.includes(role))) return 403;
  if (!scopes.every((scope) => caller.scopes?.includes(scope))) return 403;
  return undefined;
}

function isAt(pattern: readonly string[], given: readonly string[]): boolean {
  if (pattern.at(-1) === "*") {
    const fixed = pattern.slice(0, -1);
    return given.length >= fixed.length && isAt(fixed, given.slice(0, fixed.length));
  }
  return pattern.length === given.length &&
    pattern.every((segment, at) =>
      segment.startsWith(":") ? given[at] !== "" : segment === given[at]
    );
}

function answersMethod(route: RouteInfo, method: string): boolean {
  return route.method === "ALL" || route.method === method ||
    method === "HEAD" && route.method === "GET";
}

/** Literal segments are more specific than parameters, and these than a wildcard. */
function vagueness({ path }: RouteInfo): number {
  return segmentsOf(path).reduce(
    (sum, segment) => 4 * sum + (segment === "*" ? 2 : segment.startsWith(":") ? 1 : 0),
    0,
  );
}

function rankOf(route: RouteInfo, method: string): number {
  return route.method === method ? 0 : route.method === "ALL" ? 2 : 1;
}

/** A slash at the end does not count. */
function segmentsOf(path: string): readonly string[] {
  return path.replace(/(?<=.)\/$/, "").split("/").slice(1);
}
