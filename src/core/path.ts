/**
 * Path patterns: composing them, telling when two are one, and which of two is more specific.
 *
 * @module
 */

/** Where a route stands: `/{globalPrefix}/{version}/{controllerPrefix}/{routePath}`. */
export interface PathParts {
  readonly globalPrefix?: string | undefined;
  readonly version?: string | undefined;
  readonly controllerPrefix?: string | undefined;
  readonly routePath?: string | undefined;
}

/**
 * Composes the path of a route. Slashes at the ends of the parts do not matter.
 *
 * @throws {TypeError} if a part holds white space, a query, a fragment or an empty segment
 */
export function composePath(
  { globalPrefix = "", version = "", controllerPrefix = "", routePath = "" }: PathParts,
): string {
  const parts = [globalPrefix, version, controllerPrefix, routePath].map(checkPart);
  return "/" + parts.filter((part) => part !== "").join("/");
}

/** Gives the shape of a pattern: two patterns of one shape match the same paths. */
export function shapeOf(pattern: string): string {
  return pattern.replaceAll(/:[^/{}?]+/g, ":");
}

/**
 * Orders patterns for a router that takes the first match: a literal segment before a constrained
 * parameter, that before a plain one, and a wildcard last; literals by their letters.
 */
export function compareSpecificity(a: string, b: string): number {
  const [left, right] = [segmentsOf(a), segmentsOf(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [one, other] = [left[i] as string, right[i] as string];
    const difference = rankOf(one) - rankOf(other);
    if (difference !== 0) return difference;
    if (one !== other && rankOf(one) === 0) return one < other ? -1 : 1;
  }
  return left.length - right.length;
}

function checkPart(part: string): string {
  const trimmed = part.replace(/^\/+/, "").replace(/\/+$/, "");
  // a `?` is the mark of an optional parameter at the end of one, and of a query elsewhere
  if (
    /\s|#|\/\//.test(trimmed) || /\?/.test(trimmed.replaceAll(/:[^/?]+(\{[^}]*\})?\?(?=\/|$)/g, ""))
  ) {
    throw new TypeError(`Cannot compose a path with ${JSON.stringify(part)}: it is not a path`);
  }
  return trimmed;
}

function segmentsOf(pattern: string): string[] {
  return pattern.split("/").slice(1);
}

function rankOf(segment: string): number {
  if (segment === "*") return 3;
  if (!segment.startsWith(":")) return 0;
  return segment.includes("{") ? 1 : 2;
}
