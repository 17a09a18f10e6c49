/**
 * Path patterns: composing them, detecting equal ones, and ordering them by how specific they are.
 *
 * @module
 */

/** The parts of a path: `/{globalPrefix}/{version}/{controllerPrefix}/{routePath}`. */
export interface PathParts {
  readonly globalPrefix?: string | undefined;
  readonly version?: string | undefined;
  readonly controllerPrefix?: string | undefined;
  readonly routePath?: string | undefined;
}

/** The constraint of a parameter, `{[0-9]{4}}`, braces within it included. */
export const CONSTRAINT = /\{(?:[^{}]|\{[^{}]*\})*\}/g;

/**
 * What no path has; the last alternative is an escape that the router decodes before it matches:
 * neither `%25` nor one of a reserved character.
 */
const INVALID =
  /[\s#\\}]|\/\/|\/(\.\.?|:)(\/|$)|[^/]\*|\*[^/]|\?.|(?<!\/:[^/]+)[?{]|{[^/?]|%(?!2[3-6BCF]|3[ABDF]|40)[\dA-F]{2}/i;

/** A path of words that do not begin with a dot, the last of which may be a parameter. */
const PLAIN = /^(?:\/[\w~-][\w.~-]*)*(?:\/:\w+)?$/;

/**
 * Composes the path of a route. Slashes at the ends of the parts are ignored.
 *
 * @throws {TypeError} if a part holds white space, a backslash, a query, a fragment, a segment that
 * is empty, `.` or `..`, or a wildcard within a segment, if a parameter has no name, more than a
 * constraint after it, or is optional before the last, if an escape stands for a character that the
 * router decodes, or if two parameters have one name
 */
export function composePath(
  { globalPrefix = "", version = "", controllerPrefix = "", routePath = "" }: PathParts,
): string {
  const parts = [globalPrefix, version, controllerPrefix, routePath].map(trimSlashes);
  const path = "/" + parts.filter(Boolean).join("/");
  if (PLAIN.test(path)) return path; // most are
  const bare = path.replace(CONSTRAINT, "{");
  if (INVALID.test(bare)) {
    throw new TypeError(`Cannot compose ${JSON.stringify(path)}: it is not a path`);
  }
  const names = paramNames(path);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated) {
    throw new TypeError(`Cannot compose ${path}: two parameters are named ${repeated}`);
  }
  return path;
}

/** Returns the shape of a pattern: two patterns with the same shape match the same paths. */
export function shapeOf(pattern: string): string {
  if (!pattern.includes(":")) return pattern.slice(1);
  return segmentsOf(pattern).map((segment) => segment.replace(/^:[^{?]+/, ":")).join("/");
}

/**
 * Orders the segments of patterns for a router that takes the first match: a literal segment before
 * a constrained parameter, that before a plain one, and a wildcard last; literals by their letters.
 */
export function compareSpecificity(left: readonly string[], right: readonly string[]): number {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [one, other] = [left[i] as string, right[i] as string];
    if (one === other) continue;
    const rank = rankOf(one);
    const difference = rank - rankOf(other);
    if (difference !== 0) return difference;
    if (rank === 0) return one < other ? -1 : 1;
  }
  // a wildcard at the end matches all longer paths
  const [shorter, order] = left.length < right.length ? [left, -1] : [right, 1];
  return left.length === right.length ? 0 : shorter.at(-1) === "*" ? -order : order;
}

/** Lists the names of the parameters of a pattern. */
export function paramNames(pattern: string): string[] {
  return [...pattern.replace(CONSTRAINT, "").matchAll(/\/:([^/?]+)/g)].map(([, name = ""]) => name);
}

/** Returns the segments of a pattern; a slash within a constraint does not end a segment. */
export function segmentsOf(pattern: string): string[] {
  if (!pattern.includes("{")) return pattern.split("/").slice(1);
  const constraints: string[] = [];
  const masked = pattern.replace(CONSTRAINT, (found) => `{${constraints.push(found) - 1}}`);
  return masked.split("/").slice(1).map((segment) =>
    segment.replace(/\{(\d+)\}/, (_, i) => constraints[Number(i)] ?? "")
  );
}

function trimSlashes(part: string): string {
  return part.replaceAll(/^\/+|\/+$/g, "");
}

function rankOf(segment: string): number {
  if (segment === "*") return 3;
  if (!segment.startsWith(":")) return 0;
  return segment.includes("{") ? 1 : 2;
}
