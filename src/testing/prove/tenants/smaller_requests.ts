/**
 * Requests that have less than another.
 *
 * @module
 */
import { jsonObject } from "../../../platform/json_object.ts";
import type { SentRequest } from "../request/sent_request.ts";

/** To how many characters texts are cut. */
const SHORT = 8;

/**
 * Returns requests that lack a parameter of the query, a header or a property of the body, or have
 * a shorter text there.
 */
export function smallerRequests(request: SentRequest): readonly SentRequest[] {
  const { path, headers, body } = request;
  const [pathname = "", query = ""] = path.split("?");
  const parameters = query.split("&").filter(Boolean);
  const names = Object.keys(headers).filter((name) => name !== "content-type");
  const object = typeof body === "string" ? jsonObject(body) ?? {} : {};
  return [
    ...parameters.map((_, i) => {
      const fewer = parameters.toSpliced(i, 1).join("&");
      return { ...request, path: pathname + (fewer && `?${fewer}`) };
    }),
    ...names.map((name) => ({ ...request, headers: without(headers, name) })),
    ...Object.entries(object).flatMap(([name, value]) =>
      typeof value === "string" && value.length > SHORT
        ? [{ ...request, body: JSON.stringify({ ...object, [name]: value.slice(0, SHORT) }) }]
        : []
    ),
    ...Object.keys(object).map((name) => ({
      ...request,
      body: JSON.stringify(without(object, name)),
    })),
  ];
}

function without<T>(object: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}
