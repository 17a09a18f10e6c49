/**
 * Checks of the options that routes and controllers have in common.
 *
 * @module
 */
import { checkDefined, type Refuse } from "../../platform/option_names.ts";
import type { PipelineDeclaration } from "./pipeline.ts";

/** The syntax of names: of roles any, of scopes that of RFC 6749 §3.3. */
const NAMES = { roles: /./s, scopes: /^[!#-[\]-~]+$/ } as const;

/**
 * Refuses a `public` that is not a boolean, `roles` and `scopes` that are undefined or not lists of
 * names, and those beside `public`.
 */
export function checkPermissions(
  options: {
    readonly roles?: readonly string[];
    readonly scopes?: readonly string[];
    readonly public?: boolean | undefined;
  },
  refuse: Refuse,
): void {
  if (![undefined, true, false].includes(options.public)) refuse("public is not a boolean");
  checkDefined(options, { names: ["roles", "scopes"], refuse });
  for (const kind of ["roles", "scopes"] as const) {
    const names: unknown = options[kind];
    if (names === undefined) continue;
    const isName = (name: unknown) => typeof name === "string" && NAMES[kind].test(name);
    if (!Array.isArray(names) || !names.every(isName)) refuse(`${kind} is not an array of names`);
    if (names.length === 0) refuse(`${kind} is empty: name at least one`);
    if (options.public) refuse(`it is public, so its ${kind} have no effect`);
  }
}

/** Refuses guards that are undefined, and guards, interceptors and filters that are not lists. */
export function checkPipeline(options: PipelineDeclaration, refuse: Refuse): void {
  checkDefined(options, { names: ["guards"], refuse });
  for (const kind of ["guards", "interceptors", "filters"] as const) {
    const declared: unknown = options[kind];
    if (declared !== undefined && !Array.isArray(declared)) refuse(`${kind} is not an array`);
  }
}
