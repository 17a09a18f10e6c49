/**
 * Extractors: functions that read a value from a request for a handler.
 *
 * @module
 */
import { checkFormats, isForm, readBody, type ReadBodyOptions } from "../http/body.ts";
import type { Context } from "../http/context.ts";
import { refusing } from "../../platform/option_names.ts";
import { markInput } from "./declared_input.ts";
import { HttpException } from "../http/http_exception.ts";
import { markAcceptsIdentity, requiresIdentity } from "./identity_marker.ts";
import { type AnySchema, InputSchema, type SchemaOutput } from "../schema/validation.ts";

/**
 * Reads a value from a request. A route lists extractors in `args`; their values are in the
 * handler's input under the same names. To refuse the request, an extractor throws an
 * `HttpException`.
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
 * Extracts the body, decoded and validated, like the `body` option of a route.
 *
 * @throws {TypeError} at once, if a format is unknown
 * @throws {HttpException} 400, 413, 415 or 422
 */
export function validatedBody<S extends AnySchema>(
  schema: S,
  options: ReadBodyOptions = {},
): Extractor<SchemaOutput<S>> {
  const { consumes = ["json"] } = options;
  checkFormats(consumes, refusing("read the body"));
  const input = new InputSchema("body", schema);
  const extract: Extractor<SchemaOutput<S>> = async (c) =>
    input.parse(await readBody(c, options), { isFields: isForm(c) });
  return markInput(extract, { body: schema, consumes: options.consumes });
}

/**
 * Extracts the query, validated, like the `query` option of a route. A key that occurs once is a
 * string, a repeated one an array of strings. A key that occurs once is an array too if the schema
 * refuses a string.
 *
 * @throws {HttpException} 422
 */
export function validatedQuery<S extends AnySchema>(schema: S): Extractor<SchemaOutput<S>> {
  const input = new InputSchema("query", schema);
  return markInput((c: Context) => input.parse(queryOf(c)), { query: schema });
}

/**
 * Extracts the path parameters, percent-decoded and validated, like the `params` option of a route.
 *
 * @throws {HttpException} 422
 */
export function validatedPath<S extends AnySchema>(schema: S): Extractor<SchemaOutput<S>> {
  const input = new InputSchema("path", schema);
  return markInput((c: Context) => input.parse(c.req.param()), { params: schema });
}

/**
 * Returns an extractor whose value is `undefined` where another one refuses an unknown caller
 * (401), for routes that also serve anonymous callers. Other errors are not affected.
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

/** Returns the query as an object: a key that occurs once is a string, a repeated one an array. */
export function queryOf({ req }: Pick<Context, "req">): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = req.queries();
  for (const key in query) {
    if (query[key]?.length === 1) query[key] = query[key][0] as string;
  }
  return query;
}
