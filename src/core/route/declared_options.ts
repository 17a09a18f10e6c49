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

/** The syntax of names: of roles any, of scopes that of RFC 6749 §3.3. */
const NAMES = { roles: /./s, scopes: /^[!#-[\]-~]+$/ } as const;

/**
 * Refuses a `public` that is not a boolean, `roles` and `scopes` that are not lists of names, and
 * those beside `public`.
 */
export function checkPermissions(
  options: {
    readonly roles?: readonly string[] | undefined;
    readonly scopes?: readonly string[] | undefined;
    readonly public?: boolean | undefined;
  },
  refuse: Refuse,
): void {
  if (![undefined, true, false].includes(options.public)) refuse("public is not a boolean");
  for (const kind of ["roles", "scopes"] as const) {
    const names: unknown = options[kind];
    if (names === undefined) continue;
    const isName = (name: unknown) => typeof name === "string" && NAMES[kind].test(name);
    if (!Array.isArray(names) || !names.every(isName)) refuse(`${kind} is not an array of names`);
    if (names.length === 0) refuse(`${kind} is empty: name at least one`);
    if (options.public) refuse(`it is public, so its ${kind} have no effect`);
  }
}
