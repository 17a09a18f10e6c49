/**
 * Versions in a document: which routes it describes, and how a request selects one of
 * several versions.
 *
 * @module
 */
import { PROBLEM_MEDIA_TYPE } from "../../core/http/problem.ts";
import { shapeOf } from "../../core/route/path.ts";
import { type PlacedRoute, versionsAmong } from "../../core/route/route_table.ts";
import { type Versioning, withVersion } from "../../core/route/version.ts";
import type { OperationObject, ParameterObject, ResponseObject } from "../openapi_document.ts";

/** Which versions a document describes, and how a request names one. */
export interface DescribedVersions {
  /** The kind of versioning that is enabled. */
  readonly versioning?: Versioning | undefined;
  /** The version to describe; by default the one that {@linkcode routesOfVersion} prefers. */
  readonly routeVersion?: string | undefined;
}

/**
 * Returns the routes that a document describes. A document of one version has its routes, and
 * those without a version. Other documents have all routes; of several with the same path and
 * method, which an operation cannot distinguish, they have the one of the default version, or else
 * of the newest.
 *
 * @throws {TypeError} if no route has the version
 */
export function routesOfVersion(
  routes: readonly PlacedRoute[],
  { routeVersion: version, versioning }: DescribedVersions,
): readonly PlacedRoute[] {
  const known = versionsAmong(routes);
  if (version !== undefined && !known.includes(version)) {
    throw new TypeError(
      `Cannot describe version ${version}: the versions are ${known.join(", ") || "none"}`,
    );
  }
  const isDescribed = ({ versions }: PlacedRoute) =>
    version === undefined || versions.length === 0 || versions.includes(version);
  const narrowed = ({ versions }: PlacedRoute) =>
    version === undefined || versions.length === 0 ? versions : [version];
  const standard = versioning?.defaultVersion;
  const best = new Map<string, PlacedRoute>();
  for (const route of routes.filter(isDescribed)) {
    const slot = `${route.method} ${shapeOf(route.path)}`;
    const other = best.get(slot);
    if (!other || isPreferred(route, { other, standard })) {
      best.set(slot, { ...route, versions: narrowed(route) });
    }
  }
  return [...best.values()];
}

/** Orders `v10` after `v9`. */
const NUMERIC = new Intl.Collator("en", { numeric: true });

/**
 * Describes the header in which a request names the version; `undefined` if it does so elsewhere.
 */
export function versionParameter(
  { versions }: PlacedRoute,
  versioning: Versioning | undefined,
): ParameterObject | undefined {
  if (versioning?.kind !== "header" || versions.length === 0) return undefined;
  const { header, defaultVersion } = versioning;
  const isOptional = defaultVersion !== undefined && versions.includes(defaultVersion);
  return {
    name: header,
    in: "header",
    required: !isOptional,
    description: "The version of the operation",
    schema: { type: "string", enum: versions, ...isOptional && { default: defaultVersion } },
  };
}

/** Adds the parameter of the version to the media types of responses, where these name it. */
export function versionedResponses(
  responses: OperationObject["responses"],
  { versions }: PlacedRoute,
  versioning: Versioning | undefined,
): OperationObject["responses"] {
  if (versioning?.kind !== "media type" || versions.length === 0) return responses;
  const { parameter } = versioning;
  const versioned = (content: NonNullable<ResponseObject["content"]>) =>
    Object.entries(content).flatMap(([type, body]) =>
      type === PROBLEM_MEDIA_TYPE
        ? [[type, body] as const]
        : versions.map((version) => [withVersion(type, { parameter, version }), body] as const)
    );
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) =>
      "$ref" in response || !response.content
        ? [status, response]
        : [status, { ...response, content: Object.fromEntries(versioned(response.content)) }]
    ),
  );
}

function isPreferred(
  { versions }: PlacedRoute,
  { other, standard }: { readonly other: PlacedRoute; readonly standard: string | undefined },
): boolean {
  if (standard !== undefined && other.versions.includes(standard)) return false;
  if (standard !== undefined && versions.includes(standard)) return true;
  const [own = "", others = ""] = [newest(versions), newest(other.versions)];
  return NUMERIC.compare(own, others) > 0;
}

function newest(versions: readonly string[]): string | undefined {
  return versions.toSorted(NUMERIC.compare).at(-1);
}
