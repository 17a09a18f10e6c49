/**
 * Paths that middleware passes over.
 *
 * @module
 */

/**
 * Makes what tells whether a path is among those to skip: whole paths (`/health`), or with a trailing
 * `*` all that start like one (`/internal/*`).
 *
 * @throws {TypeError} if one does not start with `/`
 */
export function skippedPaths(paths: readonly string[] = []): (path: string) => boolean {
  for (const path of paths) {
    if (!path.startsWith("/")) {
      throw new TypeError(`Cannot skip path ${JSON.stringify(path)}: it does not start with "/"`);
    }
  }
  const isPrefix = (path: string) => path.endsWith("*");
  const prefixes = paths.filter(isPrefix).map((path) => path.slice(0, -1));
  const whole = new Set(
    paths.filter((path) => !isPrefix(path)).map((path) => path.replace(/(?<=.)\/$/, "")),
  );
  return (path) => whole.has(path) || prefixes.some((prefix) => path.startsWith(prefix));
}
