/**
 * Telling clients that they should move away from a route.
 *
 * @module
 */
import type { Handler } from "hono";

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
  if (link !== undefined && (!URL.canParse(link, "http://localhost") || /[<>"\s]/.test(link))) {
    throw new TypeError(`${JSON.stringify(link)} is not a URL`);
  }
  return [
    ["Deprecation", `@${Math.floor((from ?? 0) / 1000)}`],
    ...until === undefined ? [] : [["Sunset", new Date(until).toUTCString()] as const],
    ...link === undefined ? [] : [["Link", `<${link}>; rel="deprecation"`] as const],
  ];
}

/** Makes a route's handler put the headers on all that it answers, errors included. */
export function deprecated(handler: Handler, deprecation: Deprecation): Handler {
  const headers = deprecationHeaders(deprecation);
  return async function deprecated(c, next) {
    try {
      const response: Response = await handler(c, next);
      for (const [name, value] of headers) response.headers.append(name, value);
      return response;
    } catch (error) {
      for (const [name, value] of headers) c.header(name, value, { append: true });
      throw error;
    }
  };
}

function timeOf(date: Date | string | undefined): number | undefined {
  if (date === undefined) return undefined;
  const time = new Date(date).getTime();
  if (Number.isNaN(time)) throw new TypeError(`${JSON.stringify(date)} is not a date`);
  return time;
}
