/**
 * Other spellings of a request to a route, which must be protected as it is.
 *
 * @module
 */
import type { CalledRoute } from "../request/called_route.ts";
import type { SentRequest } from "../request/sent_request.ts";

/** Another way to send a request. */
export interface Spelling {
  /** In words: `HEAD`. */
  readonly name: string;
  readonly request: SentRequest;
}

/** Returns the other spellings of a request: a guard that compares texts could miss one. */
export function spellingsOf({ request }: CalledRoute): readonly Spelling[] {
  const [path = "", query] = request.path.split("?");
  const at = (path: string) => ({
    ...request,
    path: query === undefined ? path : `${path}?${query}`,
  });
  // a letter of the part before the parameters
  const encoded = path.replace(
    /(?<=^(?:\/[\w-]+)*?\/[\w-]*)[a-z](?=[\w-]*(?:\/|$))/i,
    (letter) => `%${letter.charCodeAt(0).toString(16)}`,
  );
  return [
    ...request.method === "GET" ? [{ name: "HEAD", request: { ...request, method: "HEAD" } }] : [],
    ...path === "/" ? [] : [{
      name: path.endsWith("/")
        ? "the path without a slash at its end"
        : "the path with a slash at its end",
      request: at(path.endsWith("/") ? path.slice(0, -1) : `${path}/`),
    }],
    ...encoded === path ? [] : [{ name: "the path with an encoded letter", request: at(encoded) }],
  ];
}
