/**
 * The framework that this command line belongs to: a checkout or a release.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The version of the framework and of this command line. */
export const VERSION = "0.1.0";

/** The name of the package. */
export const PACKAGE = "@fw/fw";

/** The specifier of this release and compatible ones. */
export const RELEASE = `jsr:${PACKAGE}@^${VERSION}`;

/** The release of Deno that images of projects contain. */
export const DENO_VERSION = "2.9.6";

/**
 * Returns the folder of the checkout that this command line runs from, or `undefined` if it runs
 * from a release. Only a checkout contains tests.
 */
export function checkoutRoot(): string | undefined {
  const root = new URL("../../../", import.meta.url);
  if (root.protocol !== "file:" || root.pathname.includes("/node_modules/")) return undefined;
  const isCheckout = ["deno.json", "mod.ts", "tests"].every((name) =>
    existsSync(new URL(name, root))
  );
  return isCheckout ? fileURLToPath(root).replace(/[\\/]$/, "") : undefined;
}

/** Returns the specifier of this command line: `deno run -A <specifier>`. */
export function cliSpecifier(): string {
  const root = checkoutRoot();
  return root === undefined ? `${RELEASE}/cli` : `${root}/src/cli/mod.ts`;
}
