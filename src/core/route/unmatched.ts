/**
 * Answers requests that no route answers: 404, 405 and `OPTIONS`. It is loaded by the first one.
 *
 * @module
 */
import type { Hono } from "hono";
import type { Context } from "../http/context.ts";
import {
  BadRequestException,
  MethodNotAllowedException,
  NotFoundException,
} from "../http/http_exception.ts";
import {
  answersVersion,
  markOf,
  type MatchedRoute,
  type RouteMark,
} from "../http/matched_route.ts";
import { composePath, segmentsOf } from "./path.ts";
import type { Prefixes } from "./route_table.ts";

/** The `detail` of a 404. */
const NO_ROUTE = "There is nothing at this path";

/** The methods that are looked up for `Allow`. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** Where the versions of paths are, and the known ones. */
export interface UnmatchedOptions extends Prefixes {
  /** The versions of all routes. */
  readonly versions: readonly string[];
}

/**
 * Answers a request that no route has answered, or one with `c.notFound()`.
 *
 * @throws {BadRequestException} 400 if its path needs a version and it names none
 * @throws {MethodNotAllowedException} 405 with the methods of its path in `Allow`
 * @throws {NotFoundException} 404 if no route has its path, or not in its version; or by
 * `c.notFound()`
 */
export function answerUnmatched(
  router: Hono,
  c: Context,
  options: UnmatchedOptions,
): Response {
  const { path, method } = c.req;
  const marks = METHODS.flatMap((method) =>
    marksAt(router, { method, path }).map((mark) => ({ ...mark, method }))
  );
  if (marks.length === 0) {
    const versions = otherVersions(router, path, options);
    throw new NotFoundException(
      versions.length > 0 ? unknownVersion(versions) : NO_ROUTE,
    );
  }
  const ofVersion = marks.filter((mark) => answersVersion(mark, c));
  const vary = marks.find(({ version }) => version)?.version?.vary;
  const varying = { ...vary !== undefined && { vary } };
  const answering = ["ALL", method, ...method === "HEAD" ? ["GET"] : []];
  if (ofVersion.some(({ route }) => answering.includes(route.method))) {
    // a handler, an interceptor or middleware has returned `c.notFound()`
    throw new NotFoundException(NO_ROUTE, { headers: varying });
  }
  if (method !== "OPTIONS" && !ofVersion.some(({ version }) => version)) {
    refuseVersion(marksAt(router, { method: method === "HEAD" ? "GET" : method, path }), c);
  }
  const allow = allowed(ofVersion.length > 0 ? ofVersion : marks);
  const headers = { allow, ...varying };
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
  path: string,
  { globalPrefix, versioning, versions }: UnmatchedOptions,
): readonly string[] {
  if (versioning?.kind !== "URI" || path.length > MAX_LENGTH) return [];
  const prefix = composePath({ globalPrefix });
  const segment = prefix === "/" ? 0 : segmentsOf(prefix).length;
  const segments = path.split("/").slice(1);
  const shape = (version = "") => version.replace(/\d+/g, "0");
  return versions.filter((version) =>
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
