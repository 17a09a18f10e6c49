/**
 * Announces to clients that a route is deprecated.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";

/** When a route is deprecated, and when it is removed. */
export interface Deprecation {
  /** The start of the deprecation, past or future: a `Date` or a string in ISO 8601. */
  readonly since?: Date | string;
  /** The end of the route: a `Date` or a string in ISO 8601; not before `since`. */
  readonly sunset?: Date | string;
  /** The URL of a page about the replacement. */
  readonly link?: string;
}

/**
 * Returns the headers of the responses of a deprecated route: `Deprecation` (RFC 9745), which is
 * the epoch if the time is unknown, `Sunset` (RFC 8594), and a `Link` of the relation
 * `deprecation`.
 *
 * @throws {TypeError} if a time or the link is invalid, or the sunset is before the deprecation
 */
export function deprecationHeaders(
  { since, sunset, link }: Deprecation,
): readonly (readonly [name: string, value: string])[] {
  const [from, until] = [timeOf(since), timeOf(sunset)];
  if (from !== undefined && until !== undefined && until < from) {
    throw new TypeError("the sunset is before the deprecation");
  }
  if (
    link !== undefined &&
    (URL.parse(link, "http://localhost") === null || !/^[!#-;=?-~]+$/.test(link))
  ) {
    throw new TypeError(`${JSON.stringify(link)} is not a URL`);
  }
  return [
    ["Deprecation", `@${Math.floor((from ?? 0) / 1000)}`],
    ...until === undefined ? [] : [["Sunset", new Date(until).toUTCString()] as const],
    ...link === undefined ? [] : [["Link", `<${link}>; rel="deprecation"`] as const],
  ];
}

/** Sets the headers on every response of a route, including errors. */
export function deprecated(deprecation: Deprecation): MiddlewareHandler {
  const headers = deprecationHeaders(deprecation);
  return async function deprecated(c, next) {
    await next();
    for (const [name, value] of headers) c.header(name, value, { append: name === "Link" });
  };
}

/** A day, or a time with an offset, in ISO 8601. */
const ISO_DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

function timeOf(date: Date | string | undefined): number | undefined {
  if (date === undefined) return undefined;
  const time = new Date(date).getTime();
  const isDate = typeof date !== "string" || isDayOf(date);
  if (Number.isNaN(time) || !isDate) throw new TypeError(`${JSON.stringify(date)} is not a date`);
  return time;
}

/**
 * Checks whether a text begins with an existing day: `Date` reads `2025-02-30` as a day of March.
 */
function isDayOf(text: string): boolean {
  const [, day = ""] = ISO_DATE.exec(text) ?? [];
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
