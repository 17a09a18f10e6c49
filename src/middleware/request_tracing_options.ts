/**
 * The options of the log line and the trace of each request.
 *
 * @module
 */

/** Options of `app.useRequestTracing()`. */
export interface RequestTracingOptions {
  /**
   * Paths that are neither logged nor traced, each starting with `/`: a whole path (`/health`), or
   * with a trailing `*` a prefix (`/internal/*`); none by default.
   */
  readonly skipPaths?: readonly string[];
  /**
   * Returns the time in milliseconds from any origin; the monotonic clock of the
   * runtime by default.
   */
  readonly now?: () => number;
}

/**
 * Returns a function that checks whether a path is skipped.
 *
 * @throws {TypeError} if a path does not start with `/`
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
