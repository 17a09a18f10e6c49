/**
 * How routes are protected: the guards that their declarations ask for, and what is told of them.
 *
 * @module
 */
import type { ControllerDeclaration } from "./controller.ts";
import { requiresIdentity } from "./identity_marker.ts";
import type { CanActivateFn } from "./pipeline.ts";
import { requireIdentity, requireRoles } from "./roles.ts";
import type { Route } from "./route.ts";

/**
 * `roles` if a caller needs a role, `identity` if a caller needs to be known, `guarded` behind guards of
 * other kinds, of any level; else `public` if it says so, and `open` if nothing does.
 */
export type RouteProtection = "open" | "public" | "guarded" | "identity" | "roles";

/** A route, and the controller that it is a field of. */
export interface DeclaredRoute {
  /** The controller. */
  readonly controller: ControllerDeclaration;
  /** The route. */
  readonly route: Route;
}

/** What protects all routes of an application. */
export interface GlobalProtection {
  /** The guards of all routes. */
  readonly guards: readonly unknown[];
  /** Whether a caller of a route that is not public has to be known. */
  readonly requiresIdentity: boolean;
}

/**
 * Gives the guards that a route asks for by its `args` and `roles`. An extractor that needs an identity
 * is one: it stands before interceptors, which may answer by themselves, and before the input is read.
 */
export function declaredGuards(declared: DeclaredRoute): readonly CanActivateFn[] {
  const extractors = Object.values(declared.route.options.args ?? {}).filter(requiresIdentity);
  const roles = rolesOf(declared);
  return [
    ...extractors.map((extract): CanActivateFn => async (c) => void await extract(c)),
    ...roles.length > 0 ? [requireRoles(roles)] : [],
  ];
}

/**
 * Gives the guards that the application asks of a route. They come last, as the guards before them may
 * be what identifies the caller.
 */
export function globalGuards(
  declared: DeclaredRoute,
  { requiresIdentity }: Pick<GlobalProtection, "requiresIdentity">,
): readonly CanActivateFn[] {
  return requiresIdentity && !isPublic(declared) ? [requireIdentity] : [];
}

/** Lists the guards before a route, of any level, as they are declared. */
export function guardsOf(
  { controller, route }: DeclaredRoute,
  { guards }: Pick<GlobalProtection, "guards">,
): readonly unknown[] {
  return [...guards, ...controller.guards ?? [], ...route.options.guards ?? []];
}

/**
 * Returns the name of an extractor of a route that needs an identity; `undefined` if there is none, or if a
 * guard can set one: each that does not itself require one.
 */
export function identityNeededBy(
  declared: DeclaredRoute,
  global: Pick<GlobalProtection, "guards">,
): string | undefined {
  if (!guardsOf(declared, global).every(requiresIdentity)) return undefined;
  const args = Object.entries(declared.route.options.args ?? {});
  return args.find(([, extractor]) => requiresIdentity(extractor))?.[0];
}

/** Tells how a route is protected. */
export function protectionOf(declared: DeclaredRoute, global: GlobalProtection): RouteProtection {
  const guards = guardsOf(declared, global);
  const extractors = Object.values(declared.route.options.args ?? {});
  if (rolesOf(declared).length > 0) return "roles";
  if ([...guards, ...extractors].some(requiresIdentity)) return "identity";
  if (globalGuards(declared, global).length > 0) return "identity";
  if (guards.length > 0) return "guarded";
  return isPublic(declared) ? "public" : "open";
}

/** Tells whether callers of a route have to be known. */
export function needsIdentity(protection: RouteProtection): boolean {
  return protection === "identity" || protection === "roles";
}

/**
 * Lists the roles of which a caller needs one: the route's own, else its controller's unless the route
 * is public.
 */
export function rolesOf({ controller, route }: DeclaredRoute): readonly string[] {
  return route.options.roles ?? (route.options.public ? [] : controller.roles) ?? [];
}

function isPublic({ controller, route }: DeclaredRoute): boolean {
  return route.options.public ?? controller.public ?? false;
}
