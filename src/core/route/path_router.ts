/**
 * The router of an application: it matches a path by its segments in a tree, without a search.
 *
 * @module
 */
import type { Hono } from "hono";
import { HonoBase } from "hono/hono-base"; // without the routers that are not used here
import type { Result } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";
import { getPathNoStrict } from "hono/utils/url";
import { TOO_DEEP } from "../http/raw_path.ts";

/**
 * The most segments of a path. The time of Hono's trie grows with their square where a constraint
 * such as `{.+}` matches several: 6000 segments take seconds.
 */
export const MAX_SEGMENTS = 256;

/** Creates an empty Hono application: `/users` and `/users/` are the same path. */
export function createRouter(): Hono {
  const getPath = (request: Request) => boundedPath(getPathNoStrict(request));
  return new HonoBase({ router: new PathRouter(), getPath });
}

function boundedPath(path: string): string {
  if (path.length <= MAX_SEGMENTS) return path;
  return path.split("/", MAX_SEGMENTS + 2).length > MAX_SEGMENTS + 1 ? TOO_DEEP : path;
}

/** The handlers of a path, each with the places of its parameters among the segments. */
type Handlers<T> = [T, Record<string, number>][];

/**
 * Hono's trie router: the cost of a match does not depend on the number of routes, unlike that of
 * Hono's default router. What the trie finds is kept in a tree of {@linkcode Place}s.
 */
export class PathRouter<T> extends TrieRouter<T> {
  readonly #patterns: Segments[] = [];
  readonly #literal = new Set<string>();
  /** The matches of literal paths, by the methods of routes and the path. */
  readonly #found = new Map<string, Map<string, Result<T>>>();
  #root: Place<T> | undefined;

  /** Adds a route or middleware. */
  override add(method: string, path: string, handler: T): void {
    super.add(method, path, handler);
    this.#patterns.push(path.split("/"));
    if (!/[:*{]/.test(path)) this.#literal.add(path);
    if (!this.#found.has(method)) this.#found.set(method, new Map());
    if (!this.#root) return; // nothing was matched
    this.#root = undefined;
    for (const found of this.#found.values()) found.clear();
  }

  /** Matches a path; a path that looks like a pattern, such as `/users/:id`, is taken literally. */
  override match(method: string, path: string): Result<T> {
    const found = this.#found.get(method);
    // the trie would find the members of every object, such as `valueOf`
    if (!found) return this.#matchPlace("ALL", path);
    let result = found.get(path);
    if (!result) {
      result = this.#matchPlace(method, path);
      if (this.#literal.has(path)) found.set(path, result);
    }
    return result;
  }

  /** Matches a path at its place in the tree. */
  #matchPlace(method: string, path: string): Result<T> {
    const segments = path.split("/");
    let place: Place<T> | null = this.#root ??= new Place([], this.#patterns);
    for (const segment of segments) {
      place = place.next(segment);
      if (!place) return super.match(method, path.replace(/\/(?:\*(?=\/|$)|:)/g, encoded));
    }
    let handlers = place.handlers.get(method);
    if (!handlers) {
      handlers = this.#search(method, place.segments);
      place.handlers.set(method, handlers);
    }
    return [handlers, segments];
  }

  /** Searches the handlers of an example of a path. */
  #search(method: string, segments: Segments): Handlers<T> {
    const [found] = super.match(method, segments.join("/")) as [[T, Record<string, string>][]];
    return found.map(([handler, params]) => {
      const indexes: Record<string, number> = Object.create(null);
      for (const name in params) indexes[name] = segments.indexOf(params[name] as string);
      return [handler, indexes];
    });
  }
}

/** The segments of a path or pattern; the first is empty. */
type Segments = readonly string[];

/** Where all paths end whose segments are the same literals of patterns, or no literals. */
class Place<T> {
  /** What the router has found here, by method. */
  readonly handlers: Map<string, Handlers<T>> = new Map();
  /** An example of a path that ends here. */
  readonly segments: Segments;
  readonly #patterns: readonly Segments[];
  /** The places of paths with one more segment, by that; `null` for those that no pattern has. */
  readonly #next = new Map<string, Place<T> | null | undefined>();

  /** Creates a place from the patterns that its paths match so far. */
  constructor(segments: Segments, patterns: readonly Segments[]) {
    this.segments = segments;
    this.#patterns = patterns;
    for (const { [segments.length]: segment = ":" } of patterns) {
      if (!/^[:*]/.test(segment)) this.#next.set(segment, undefined);
    }
  }

  /** Returns the place of paths with one more segment, or `null` if no pattern goes on. */
  next(segment: string): Place<T> | null {
    const known = this.#next.get(segment);
    if (known) return known;
    const key = this.#next.has(segment) ? segment : OTHER;
    let place = this.#next.get(key);
    if (place === undefined) {
      place = this.#child(key);
      this.#next.set(key, place);
    }
    return segment === "" && key === OTHER ? null : place; // no parameter is empty
  }

  #child(segment: string): Place<T> | null {
    const { length: depth } = this.segments;
    if (this.#patterns.some((pattern) => isOdd(pattern, depth))) return null;
    const patterns = this.#patterns.filter(({ [depth]: own = "" }) =>
      own === segment || own.startsWith(":")
    );
    if (patterns.length === 0) return null;
    return new Place([...this.segments, segment === OTHER ? OTHER + depth : segment], patterns);
  }
}

/** A segment that no path has: a URL encodes it. */
const OTHER = "\0";

/** Checks whether what a pattern matches depends on more than which segments are literals. */
function isOdd(pattern: Segments, depth: number): boolean {
  const segment = pattern[depth] ?? "";
  return /[{?]|.\*|^:$/.test(segment) || segment === "*" && depth < pattern.length - 1;
}

/** Encodes the beginning of a segment that looks like one of a pattern. */
function encoded(found: string): string {
  return found === "/:" ? "/%3A" : "/%2A";
}
