/**
 * The request of a call.
 *
 * @module
 */

/** The parts of a request that the caller passes. */
export interface Input {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly multipart?: Readonly<Record<string, unknown>>;
}

/**
 * Returns the path of a call, such as `GET /cats/:id`, with its parameters, and the query.
 *
 * @throws {TypeError} if a parameter is missing, or is a segment that changes the path
 */
export function pathOf(call: string, { params = {}, query = {} }: Input): string {
  const path = call.slice(call.indexOf(" ") + 1);
  const filled = path.replace(/\/:([^/?]+)(\??)|\/\*$/g, (_, name = "*", optional = "") => {
    const value = params[name];
    if (optional && value == null) return "";
    const text = String(value ?? "");
    const segments = name === "*" ? text.split("/") : [text];
    // an empty end of a wildcard is a trailing slash, an empty begin of a path that of a host
    const isWrong = segments.some((segment) => DOTS.test(segment)) ||
      (name === "*" ? path === "/*" && text.startsWith("/") : !text);
    if (isWrong) {
      throw new TypeError(`Cannot ${call}: params.${name} is ${JSON.stringify(value)}`);
    }
    return `/${segments.map(encodeURIComponent).join("/")}`;
  });
  const search = textOf(query);
  return `${filled || "/"}${search && `?${search}`}`;
}

/** A segment that a URL resolves: it would name another path. */
const DOTS = /^(\.|%2e){1,2}$/i;

/** Returns the body of a request, and its media type; `fetch` sets that of a multipart form. */
export function bodyOf(
  { body, form, multipart }: Input,
): [body: BodyInit | null, mediaType?: string] {
  if (multipart) {
    const data = new FormData();
    for (const [name, value] of fieldsOf(multipart)) data.append(name, value as string | Blob);
    return [data];
  }
  // Bun sends an empty `URLSearchParams` without its type
  if (form) return [textOf(form), "application/x-www-form-urlencoded"];
  return body === undefined ? [null] : [JSON.stringify(body), "application/json"];
}

/** Returns the headers of a client with those of a call; `undefined` and `null` are omitted. */
export function headersOf(
  given: HeadersInit,
  own: Readonly<Record<string, unknown>>,
): Headers {
  const headers = new Headers(given);
  for (const [name, value] of Object.entries(own)) {
    if (value != null) headers.set(name, String(value));
  }
  return headers;
}

/** Returns fields in the form of a query. */
function textOf(fields: Readonly<Record<string, unknown>>): string {
  return new URLSearchParams(fieldsOf(fields) as [string, string][]).toString();
}

/**
 * Lists fields: a list is repeated, `undefined` and `null` are omitted, other values are sent
 * as text.
 */
function fieldsOf(fields: Readonly<Record<string, unknown>>): [string, string | Blob][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().flatMap((item) => item ?? [])
      .map((item): [string, string | Blob] => [name, item instanceof Blob ? item : String(item)])
  );
}
