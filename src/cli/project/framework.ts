/**
 * The framework that this command line belongs to: a checkout or a release.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The version of the framework and of this command line. */
export const VERSION = "0.1.0";

/** The package, as projects import it. */
export const PACKAGE = "@fw/fw";

/** The releases of this and all compatible ones, as Deno names them. */
export const RELEASE = `jsr:${PACKAGE}@^${VERSION}`;

/** The release of Deno that projects are made for, and that their images have. */
export const DENO_VERSION = "2.9.6";

/**
 * Gives the folder of the checkout that this command line runs from; nothing when it runs from a
 * release. Only a checkout has tests beside its sources.
 */
export function checkoutRoot(): string | undefined {
  const root = new URL("../../../", import.meta.url);
  if (root.protocol !== "file:" || root.pathname.includes("/node_modules/")) return undefined;
  const isCheckout = ["deno.json", "mod.ts", "tests"].every((name) =>
    existsSync(new URL(name, root))
  );
  return isCheckout ? fileURLToPath(root).replace(/[\\/]$/, "") : undefined;
}

/** Gives what runs this command line by Deno: `deno run -A <this>`. */
export function cliSpecifier(): string {
  const root = checkoutRoot();
  return root === undefined ? `${RELEASE}/cli` : `${root}/src/cli/mod.ts`;
}
