/**
 * Mounts routes on Hono, and answers requests that no route answers: 404, 405 and `OPTIONS`.
 *
 * @module
 */
import type { Handler, Hono, MiddlewareHandler } from "hono";
import { HonoBase } from "hono/hono-base"; // without the routers that are not used here
import { TrieRouter } from "hono/router/trie-router";
import type { Context } from "../http/context.ts";
import {
  BadRequestException,
  MethodNotAllowedException,
  NotFoundException,
} from "../http/http_exception.ts";
import {
  answers,
  answersVersion,
  markOf,
  markRoute,
  type MatchedRoute,
  type RouteMark,
} from "../http/matched_route.ts";
import { CONSTRAINT } from "./path.ts";

/** The methods that are looked up for `Allow`. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/**
 * Hono's trie router: the cost of a match does not depend on the number of routes, unlike that of
 * Hono's default router.
 */
class Router<T> extends TrieRouter<T> {
  /** Matches a path; a path that looks like a pattern, such as `/users/:id`, is taken literally. */
  override match(method: string, path: string): ReturnType<TrieRouter<T>["match"]> {
    return super.match(method, path.replace(/\/(?:\*(?=\/|$)|:)/g, escaped));
  }
}

/** Creates an empty Hono application: `/users` and `/users/` are the same path. */
export function createRouter(): Hono {
  return new HonoBase({ strict: false, router: new Router() });
}

/**
 * Returns a pattern for the router, with the alternatives of constraints grouped: the router would
 * match `{cat|dog}` as `^cat` or `dog$`.
 */
export function routerPattern(path: string): string {
  return path.replace(CONSTRAINT, (constraint) => `{(?:${constraint.slice(1, -1)})}`);
}

/** A route to mount. */
export interface MountedRoute extends MatchedRoute {
  /** Its handler. */
  readonly handler: Handler;
  /** The versions of requests that it answers; default all. */
  readonly version?: RouteMark["version"];
  /** The middleware before its handler. */
  readonly middleware?: readonly MiddlewareHandler[];
}

/** Mounts a handler as a route. */
export function mount(
  router: Hono,
  { method, path, bodyLimit, handler, version, middleware = [] }: MountedRoute,
): void {
  const mark: RouteMark = { route: { method, path }, version };
  const isForAll = method !== "HEAD" && version === undefined;
  const only = (handler: Handler): Handler =>
    isForAll ? handler : (c, next) => answers(mark, c) ? handler(c, next) : next();
  const handlers = [
    ...version ? [version.varying] : [],
    ...middleware.map(only),
    markRoute(only(handler), { method, path, bodyLimit, version }),
  ];
  // Hono dispatches HEAD as GET
  router.on(method === "HEAD" ? "GET" : method, [routerPattern(path)], ...handlers);
}

/** The place of versions in paths, and the known versions. */
export interface PathVersions {
  /** The index of the segment. */
  readonly segment: number;
  /** The versions of all routes. */
  readonly known: readonly string[];
}

/**
 * Answers a request that no route has answered.
 *
 * @throws {BadRequestException} 400 if its path needs a version and it names none
 * @throws {MethodNotAllowedException} 405 with the methods of its path in `Allow`
 * @throws {NotFoundException} 404 if no route has its path, or not in its version
 */
export function answerUnmatched(
  router: Hono,
  c: Context,
  { pathVersions }: { readonly pathVersions?: PathVersions | undefined } = {},
): Response {
  const { path, method } = c.req;
  const marks = METHODS.flatMap((method) =>
    marksAt(router, { method, path }).map((mark) => ({ ...mark, method }))
  );
  if (marks.length === 0) {
    const versions = otherVersions(router, { path, pathVersions });
    throw new NotFoundException(
      versions.length > 0 ? unknownVersion(versions) : "There is nothing at this path",
    );
  }
  const ofVersion = marks.filter((mark) => answersVersion(mark, c));
  if (method !== "OPTIONS" && !ofVersion.some(({ version }) => version)) {
    refuseVersion(marksAt(router, { method: method === "HEAD" ? "GET" : method, path }), c);
  }
  const allow = allowed(ofVersion.length > 0 ? ofVersion : marks);
  const vary = marks.find(({ version }) => version)?.version?.vary;
  const headers = { allow, ...vary !== undefined && { vary } };
  if (method === "OPTIONS") return c.body(null, 204, headers);
  throw new MethodNotAllowedException(`This path has the methods ${allow}`, { headers });
}

/**
 * Refuses a request whose version none of the routes of its path answers, if those of its
 * method have one.
 */
function refuseVersion(marks: readonly RouteMark[], c: Context): void {
  const versions = marks.flatMap(({ route, version }) =>
    version && (route.method !== "HEAD" || c.req.method === "HEAD") ? [version] : []
  );
  const [first] = versions;
  if (first === undefined) return;
  const headers = { vary: first.vary };
  const known = [...new Set(versions.flatMap(({ known }) => known))];
  if (first.read(c) !== undefined) throw new NotFoundException(unknownVersion(known), { headers });
  throw new BadRequestException(
    `This path needs a version, one of ${known.join(", ")}, in ${first.where}`,
    { headers },
  );
}

function unknownVersion(known: readonly string[]): string {
  return `This path has no such version; its versions are ${known.join(", ")}`;
}

/** The longest path in characters whose other versions are looked up: each takes many matches. */
const MAX_LENGTH = 2048;

/** Lists the versions of a path whose own version is unknown, but looks like a known one. */
function otherVersions(
  router: Hono,
  { path, pathVersions: { segment, known } = { segment: 0, known: [] } }: {
    readonly path: string;
    readonly pathVersions: PathVersions | undefined;
  },
): readonly string[] {
  if (path.length > MAX_LENGTH) return [];
  const segments = path.split("/").slice(1);
  const shape = (version = "") => version.replace(/\d+/g, "0");
  return known.filter((version) =>
    shape(version) === shape(segments[segment]) &&
    METHODS.some((method) =>
      marksAt(router, { method, path: `/${segments.with(segment, version).join("/")}` }).length > 0
    )
  );
}

function marksAt({ router }: Hono, { method, path }: MatchedRoute): readonly RouteMark[] {
  return router.match(method, path)[0].flatMap(([[handler]]) => markOf(handler) ?? []);
}

/** Returns the methods of the routes of a path, for `Allow`. */
function allowed(marks: readonly (RouteMark & { readonly method: string })[]): string {
  const methods = new Set(
    marks.map(({ route, method }) => route.method === "ALL" ? method : route.method),
  );
  if (methods.has("GET")) methods.add("HEAD");
  methods.add("OPTIONS");
  return METHODS.filter((method) => methods.has(method)).join(", ");
}

function escaped(found: string): string {
  return found === "/*" ? "/%2A" : "/%3A";
}
