/**
 * Telling clients that they should move away from a route.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";

/** Since when a route is deprecated, and until when it answers. */
export interface Deprecation {
  /** Since when, or from when on: a `Date`, or its text in ISO 8601. */
  readonly since?: Date | string;
  /** When it will be gone: a `Date`, or its text in ISO 8601; not before `since`. */
  readonly sunset?: Date | string;
  /** The URL of a page that tells what to use instead. */
  readonly link?: string;
}

/**
 * Gives the headers of the responses of a deprecated route: `Deprecation` (RFC 9745), which is a time and
 * is the epoch where none is known, `Sunset` (RFC 8594), and a `Link` of the relation `deprecation`.
 *
 * @throws {TypeError} if a time or the link is none, or the sunset is before the deprecation
 */
export function deprecationHeaders(
  { since, sunset, link }: Deprecation,
): readonly (readonly [name: string, value: string])[] {
  const [from, until] = [timeOf(since), timeOf(sunset)];
  if (from !== undefined && until !== undefined && until < from) {
    throw new TypeError("the sunset is before the deprecation");
  }
  if (
    link !== undefined && (!URL.canParse(link, "http://localhost") || !/^[!#-;=?-~]+$/.test(link))
  ) {
    throw new TypeError(`${JSON.stringify(link)} is not a URL`);
  }
  return [
    ["Deprecation", `@${Math.floor((from ?? 0) / 1000)}`],
    ...until === undefined ? [] : [["Sunset", new Date(until).toUTCString()] as const],
    ...link === undefined ? [] : [["Link", `<${link}>; rel="deprecation"`] as const],
  ];
}

/** Puts the headers on all that a route answers, errors included. */
export function deprecated(deprecation: Deprecation): MiddlewareHandler {
  const headers = deprecationHeaders(deprecation);
  return async function deprecated(c, next) {
    await next();
    if (c.res.status === 101) return; // what becomes a WebSocket cannot be changed
    for (const [name, value] of headers) c.header(name, value, { append: name === "Link" });
  };
}

/** A day, or a time with an offset, of ISO 8601. */
const ISO_DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

function timeOf(date: Date | string | undefined): number | undefined {
  if (date === undefined) return undefined;
  const time = new Date(date).getTime();
  const isDate = typeof date !== "string" || isDayOf(date);
  if (Number.isNaN(time) || !isDate) throw new TypeError(`${JSON.stringify(date)} is not a date`);
  return time;
}

/** Tells whether a text begins with a day that there is: `2025-02-30` would be taken for March. */
function isDayOf(text: string): boolean {
  const [, day = ""] = ISO_DATE.exec(text) ?? [];
  const time = Date.parse(day);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
