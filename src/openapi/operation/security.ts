/**
 * The security requirements of operations.
 *
 * @module
 */
import { acceptsIdentity } from "../../core/route/identity_marker.ts";
import type { Route } from "../../core/route/route.ts";
import {
  type GlobalProtection,
  needsIdentity,
  permissionsOf,
  protectionOf,
  type RouteProtection,
} from "../../core/route/route_protection.ts";
import { nameOf, type PlacedRoute } from "../../core/route/route_table.ts";
import type { SecurityRequirementObject } from "../openapi_document.ts";
import type { ResolvedOpenApiOptions } from "../options.ts";

/**
 * Returns the security requirements of a route: those that it declares; the scheme of the options,
 * with the scopes of the route, if it requires a role, scopes or an identity; that scheme or none
 * if it accepts an identity; none if it is public. Returns `undefined` where the requirements of
 * the document apply.
 */
export function securityOf(
  { bound }: PlacedRoute,
  protection: RouteProtection,
  { inferRouteSecurityFromRoles, rolesSecurityScheme, security }: ResolvedOpenApiOptions,
): readonly SecurityRequirementObject[] | undefined {
  const { security: own } = bound.route.options.openapi ?? {};
  if (own || !inferRouteSecurityFromRoles) return structuredClone(own);
  const identified = { [rolesSecurityScheme]: [...permissionsOf(bound).scopes] };
  if (needsIdentity(protection)) return [identified];
  if (takesIdentity(bound.route)) return [{}, identified];
  return protection === "public" && security ? [] : undefined;
}

/**
 * Checks that the security schemes of all routes are declared.
 *
 * @throws {TypeError} naming the missing scheme, and the first route that requires it
 */
export function checkSchemes(
  routes: readonly PlacedRoute[],
  global: GlobalProtection,
  { inferRouteSecurityFromRoles, rolesSecurityScheme, components }: ResolvedOpenApiOptions,
): void {
  const isDeclared = (scheme: string) => Object.hasOwn(components?.securitySchemes ?? {}, scheme);
  for (const { method, path, bound } of routes) {
    const own = (bound.route.options.openapi?.security ?? []).flatMap((each) => Object.keys(each));
    const missing = own.find((scheme) => !isDeclared(scheme));
    if (missing === undefined) continue;
    throw new TypeError(
      `Cannot describe ${nameOf(bound)} (${method} ${path}): components.securitySchemes does not ` +
        `declare ${missing}`,
    );
  }
  if (!inferRouteSecurityFromRoles || isDeclared(rolesSecurityScheme)) return;
  const first = routes.find(({ bound }) =>
    needsIdentity(protectionOf(bound, global)) || takesIdentity(bound.route)
  );
  const subject = first
    ? `${nameOf(first.bound)} (${first.method} ${first.path})`
    : "routes with roles or scopes";
  throw new TypeError(
    `Cannot describe ${subject}: components.securitySchemes does not declare ${rolesSecurityScheme}, ` +
      "the rolesSecurityScheme",
  );
}

function takesIdentity({ options }: Route): boolean {
  return Object.values(options.args ?? {}).some(acceptsIdentity);
}
