/**
 * Extractors: functions that take something out of a request for a handler.
 *
 * @module
 */
import { isForm, readBody, type ReadBodyOptions } from "../http/body.ts";
import type { Context } from "../http/context.ts";
import { markInput } from "./declared_input.ts";
import { HttpException } from "../http/http_exception.ts";
import { markAcceptsIdentity, requiresIdentity } from "./identity_marker.ts";
import { type AnySchema, InputSchema, type SchemaOutput } from "../schema/validation.ts";

/**
 * Takes a value out of a request. A route lists extractors in `args`; the handler finds their values
 * in its input under the same names. To refuse the request, an extractor throws an `HttpException`.
 *
 * @example
 * ```ts
 * import { type Context, controller, route, UnauthorizedException } from "@fw/fw";
 *
 * function apiKey(c: Context): string {
 *   return c.req.header("x-api-key") ?? UnauthorizedException.throw("An API key is needed");
 * }
 *
 * class KeysController extends controller() {
 *   mine = route.get("/", { args: { key: apiKey } }, ({ key }) => ({ length: key.length }));
 * }
 * ```
 */
export type Extractor<T> = (c: Context) => T | Promise<T>;

/**
 * Extracts the body, decoded and validated; what a route's `body` option does.
 *
 * @throws {HttpException} 400, 413, 415 or 422
 */
export function validatedBody<S extends AnySchema>(
  schema: S,
  options: ReadBodyOptions = {},
): Extractor<SchemaOutput<S>> {
  const input = new InputSchema("body", schema);
  const extract: Extractor<SchemaOutput<S>> = async (c) =>
    input.parse(await readBody(c, options), { isFields: isForm(c) });
  return markInput(extract, { body: schema, consumes: options.consumes });
}

/**
 * Extracts the query, validated; what a route's `query` option does. A key that occurs once is a
 * string, one that occurs more often an array of strings; so is one that occurs once where the schema
 * refuses a string.
 *
 * @throws {HttpException} 422
 */
export function validatedQuery<S extends AnySchema>(schema: S): Extractor<SchemaOutput<S>> {
  const input = new InputSchema("query", schema);
  return markInput((c: Context) => input.parse(queryOf(c)), { query: schema });
}

/**
 * Extracts the path parameters, percent-decoded and validated; what a route's `params` option does.
 *
 * @throws {HttpException} 422
 */
export function validatedPath<S extends AnySchema>(schema: S): Extractor<SchemaOutput<S>> {
  const input = new InputSchema("path", schema);
  return markInput((c: Context) => input.parse(c.req.param()), { params: schema });
}

/**
 * Makes an extractor that gives `undefined` where another refuses a caller for being unknown (401):
 * for routes that serve anonymous callers as well. Any other refusal stays one.
 *
 * @example
 * ```ts
 * import { controller, optional, route } from "@fw/fw";
 * import { OAuth2Principal } from "@fw/fw/oauth2";
 *
 * class HomeController extends controller() {
 *   home = route.get("/", { args: { me: optional(OAuth2Principal) } }, ({ me }) =>
 *     me ? `Hello, ${me.subject}` : "Hello, stranger");
 * }
 * ```
 */
export function optional<T>(extractor: Extractor<T>): Extractor<T | undefined> {
  const extract: Extractor<T | undefined> = async (c) => {
    try {
      return await extractor(c);
    } catch (error) {
      if (error instanceof HttpException && error.status === 401) return undefined;
      throw error;
    }
  };
  return requiresIdentity(extractor) ? markAcceptsIdentity(extract) : extract;
}

/** Gives the query as an object: a string for a key that occurs once, an array for one that repeats. */
export function queryOf(c: Context): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = c.req.queries();
  for (const key in query) {
    if (query[key]?.length === 1) query[key] = query[key][0] as string;
  }
  return query;
}
