/**
 * The protection of routes: the guards that their declarations imply, and how it is reported.
 *
 * @module
 */
import type { ControllerDeclaration } from "./controller.ts";
import { requiresIdentity } from "./identity_marker.ts";
import type { CanActivateFn } from "./pipeline.ts";
import { requireIdentity } from "./caller.ts";
import type { Route } from "./route.ts";

/**
 * `roles` if a caller needs a role, and `scopes` if only scopes; `identity` if a caller needs an
 * identity, `guarded` if there are other guards, of any level; else `public` if it is declared so,
 * and `open` if not.
 */
export type RouteProtection = "open" | "public" | "guarded" | "identity" | "scopes" | "roles";

/** A route, and its controller. */
export interface DeclaredRoute {
  /** The controller. */
  readonly controller: ControllerDeclaration;
  /** The route. */
  readonly route: Route;
}

/** The protection of all routes of an application. */
export interface GlobalProtection {
  /** The guards of all routes. */
  readonly guards: readonly unknown[];
  /** Whether every route that is not public needs an identity. */
  readonly requiresIdentity: boolean;
}

/**
 * Returns the guards that `args`, `roles` and `scopes` imply. An extractor that needs an identity
 * is one of them: it runs before interceptors, which can answer without the handler, and before the
 * input is read.
 */
export async function declaredGuards(
  declared: DeclaredRoute,
): Promise<readonly CanActivateFn[]> {
  const extractors = Object.values(declared.route.options.args ?? {}).filter(requiresIdentity);
  const { roles, scopes } = permissionsOf(declared);
  return [
    ...extractors.map((extract): CanActivateFn => async (c) => {
      await extract(c);
      return true;
    }),
    ...roles.length > 0 ? [(await import("./permissions.ts")).requireRoles(roles)] : [],
    ...scopes.length > 0 ? [(await import("./permissions.ts")).requireScopes(scopes)] : [],
  ];
}

/**
 * Returns the guard of a route that needs an identity. It runs last, as the guards before it can
 * identify the caller.
 */
export function identityGuards(
  declared: DeclaredRoute,
  global: GlobalProtection,
): readonly CanActivateFn[] {
  return needsIdentity(protectionOf(declared, global)) ? [requireIdentity] : [];
}

/** Lists the guards of a route, of every level, as declared. */
export function guardsOf(
  { controller, route }: DeclaredRoute,
  { guards }: Pick<GlobalProtection, "guards">,
): readonly unknown[] {
  return [...guards, ...controller.guards ?? [], ...route.options.guards ?? []];
}

/**
 * Returns the name of an extractor of a route that needs an identity; `undefined` if it has none,
 * or if a guard can set one: each that does not itself require one.
 */
export function identityNeededBy(
  declared: DeclaredRoute,
  global: Pick<GlobalProtection, "guards">,
): string | undefined {
  if (!guardsOf(declared, global).every(requiresIdentity)) return undefined;
  const args = Object.entries(declared.route.options.args ?? {});
  return args.find(([, extractor]) => requiresIdentity(extractor))?.[0];
}

/** Returns how a route is protected. */
export function protectionOf(declared: DeclaredRoute, global: GlobalProtection): RouteProtection {
  const guards = guardsOf(declared, global);
  const extractors = Object.values(declared.route.options.args ?? {});
  const { roles, scopes } = permissionsOf(declared);
  if (roles.length > 0) return "roles";
  if (scopes.length > 0) return "scopes";
  if ([...guards, ...extractors].some(requiresIdentity)) return "identity";
  if (global.requiresIdentity && !isPublic(declared)) return "identity";
  if (guards.length > 0) return "guarded";
  return isPublic(declared) ? "public" : "open";
}

/** Checks whether callers of a route need an identity. */
export function needsIdentity(protection: RouteProtection): boolean {
  return protection === "identity" || needsPermission(protection);
}

/** Checks whether callers of a route need a role or scopes. */
export function needsPermission(protection: RouteProtection): boolean {
  return protection === "roles" || protection === "scopes";
}

/**
 * Lists the roles of which a caller needs one, and the scopes of which a caller needs all: those of
 * the route, or else of its controller, unless the route is public.
 */
export function permissionsOf(
  { controller, route }: DeclaredRoute,
): { readonly roles: readonly string[]; readonly scopes: readonly string[] } {
  const inherited = route.options.public ? undefined : controller;
  const { roles = inherited?.roles ?? [], scopes = inherited?.scopes ?? [] } = route.options;
  return { roles, scopes };
}

function isPublic({ controller, route }: DeclaredRoute): boolean {
  return route.options.public ?? controller.public ?? false;
}
