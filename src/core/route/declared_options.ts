/**
 * Checks of the options that modules, controllers and routes have in common: an unknown name would
 * have no effect, and a route could be open.
 *
 * @module
 */

/** Throws a `TypeError` with the reason. */
export type Refuse = (why: string) => never;

/** Refuses options with an unknown name. */
export function checkNames(
  options: object,
  { known, refuse }: { readonly known: readonly string[]; readonly refuse: Refuse },
): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const plural = known.includes(`${unknown}s`) ? `, ${unknown}s is` : "";
  refuse(`${unknown} is not an option${plural}`);
}

/** Refuses `roles` that are not an array of non-empty strings, and those beside `public`. */
export function checkRoles(
  { roles, public: isPublic }: {
    readonly roles?: readonly string[] | undefined;
    readonly public?: boolean | undefined;
  },
  refuse: Refuse,
): void {
  if (roles === undefined) return;
  if (!Array.isArray(roles) || roles.some((role) => typeof role !== "string" || role === "")) {
    refuse("roles is not an array of non-empty strings");
  }
  if (roles.length === 0) refuse("roles is empty, so no caller could have one of them");
  if (isPublic) refuse("it is public, so its roles have no effect");
}
