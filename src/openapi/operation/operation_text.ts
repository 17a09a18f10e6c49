/**
 * The words of an operation: its id, summary and tag.
 *
 * @module
 */
import { segmentsOf } from "../../core/route/path.ts";
import { nameOf, type PlacedRoute } from "../../core/route/route_table.ts";
import type { OpenApiOptions } from "../options.ts";

/** Gives the id of an operation: `Module.Controller.handler` unless the route or the options say otherwise. */
export function operationIdOf(
  { method, path, bound }: PlacedRoute,
  { operationId: name = ({ handler }) => handler }: Pick<OpenApiOptions, "operationId"> = {},
): string {
  const { operationId } = bound.route.options.openapi ?? {};
  if (operationId !== undefined) return operationId;
  const handler = nameOf(bound).replace(/[^\p{L}\p{N}_.$-]+/gu, "_"); // so that it can stand in a URL
  const id: unknown = name({ method, path, handler });
  if (typeof id === "string" && id !== "") return id;
  throw new TypeError(
    `Cannot describe ${method} ${path}: the operationId of the options gives no id`,
  );
}

/** Gives the summary of an operation: its handler's name in words unless the route says otherwise. */
export function summaryOf({ bound }: PlacedRoute): string {
  return bound.route.options.openapi?.summary ?? humanised(bound.handler);
}

/** Gives the description of an operation: the route's, and since and until when it is deprecated. */
export function descriptionOf({ bound }: PlacedRoute): string | undefined {
  const { description, deprecated } = bound.route.options.openapi ?? {};
  const { since, sunset, link } = typeof deprecated === "object" ? deprecated : {};
  const facts = [
    ...since === undefined ? [] : [`Deprecated since ${dayOf(since)}.`],
    ...sunset === undefined ? [] : [`Gone on ${dayOf(sunset)}.`],
    ...link === undefined ? [] : [`See <${link}>.`],
  ].join(" ");
  return [description, facts].filter((text) => text).join("\n\n") || undefined;
}

/**
 * Gives the tag of an operation: the route's, else its controller's, else the first segment of its path
 * that is neither in the prefix, nor a version, nor a parameter.
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

/** Leaves out the segments at the beginning that a prefix has too. */
function withoutPrefix(segments: readonly string[], prefix: readonly string[]): readonly string[] {
  const wanted = prefix.filter((segment) => segment !== "");
  const differs = wanted.findIndex((segment, i) => segments[i] !== segment);
  return segments.slice(differs === -1 ? wanted.length : differs);
}
