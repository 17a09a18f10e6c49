/**
 * The texts of an operation: its id, summary, description and tag.
 *
 * @module
 */
import { segmentsOf } from "../../core/route/path.ts";
import { nameOf, type PlacedRoute } from "../../core/route/route_table.ts";
import type { OpenApiOptions } from "../options.ts";

/**
 * Returns the id of an operation: `Module.Controller.handler` unless the route or the options set
 * another.
 *
 * @throws {TypeError} if the `operationId` of the options returns no id
 */
export function operationIdOf(
  { method, path, bound }: PlacedRoute,
  { operationId: name = ({ handler }) => handler }: Pick<OpenApiOptions, "operationId"> = {},
): string {
  const { operationId } = bound.route.options.openapi ?? {};
  if (operationId !== undefined) return operationId;
  const handler = nameOf(bound).replace(/[^\p{L}\p{N}_.$-]+/gu, "_"); // valid in a URL
  const id: unknown = name({ method, path, handler });
  if (typeof id === "string" && id !== "") return id;
  throw new TypeError(
    `Cannot describe ${method} ${path}: the operationId of the options returns no id`,
  );
}

/**
 * Returns the summary of an operation: the name of its handler in words unless the
 * route sets another.
 */
export function summaryOf({ bound }: PlacedRoute): string {
  return bound.route.options.openapi?.summary ?? humanised(bound.handler);
}

/**
 * Returns the description of an operation: that of the route, with the dates of its deprecation.
 */
export function descriptionOf({ bound }: PlacedRoute): string | undefined {
  const { description, deprecated } = bound.route.options.openapi ?? {};
  const { since, sunset, link } = typeof deprecated === "object" ? deprecated : {};
  const facts = [
    ...since === undefined ? [] : [`Deprecated since ${dayOf(since)}.`],
    ...sunset === undefined ? [] : [`Removed on ${dayOf(sunset)}.`],
    ...link === undefined ? [] : [`See <${link}>.`],
  ].join(" ");
  return [description, facts].filter((text) => text).join("\n\n") || undefined;
}

/**
 * Returns the tag of an operation: that of the route, or of its controller, or the first segment of
 * its path that is not in the prefix, a version or a parameter.
 */
export function tagOf(
  { path, versions, bound: { controller, route } }: PlacedRoute,
  { apiPrefix }: { readonly apiPrefix: string },
): string | undefined {
  const { tag = controller.tag } = route.options.openapi ?? {};
  if (tag !== undefined) return tag;
  const segments = withoutPrefix(segmentsOf(path), segmentsOf(`/${apiPrefix}`));
  const [first, ...rest] = withoutPrefix(segments, versions);
  const meaningful = first !== undefined && /^v\d+(\.\d+)*$/.test(first) ? rest : [first, ...rest];
  return meaningful.find((segment) => segment && !/^[:*]/.test(segment));
}

/** Turns `findUserByID` and `find_user_by_ID` into `Find user by ID`. */
export function humanised(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[\s_$]+/)
    .filter((word) => word !== "")
    .map((word) => /^[A-Z0-9]{2,}$/.test(word) ? word : word.toLowerCase());
  const sentence = words.join(" ");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function dayOf(date: Date | string): string {
  return new Date(date).toISOString().slice(0, 10);
}

/** Removes a prefix from the start of a path. */
function withoutPrefix(segments: readonly string[], prefix: readonly string[]): readonly string[] {
  const wanted = prefix.filter((segment) => segment !== "");
  const differs = wanted.findIndex((segment, i) => segments[i] !== segment);
  return segments.slice(differs === -1 ? wanted.length : differs);
}
