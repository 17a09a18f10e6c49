/**
 * The types of a handler, inferred from what its route declares.
 *
 * @module
 */
import type { AnySchema, SchemaInput, SchemaOutput } from "../schema/validation.ts";

/** The names of a path's parameters: `"/:id/posts/:post?"` has `id` and `post`. */
export type ParamNames<Path extends string> = Path extends `${infer Head}/${infer Tail}`
  ? ParamNames<Head> | ParamNames<Tail>
  : Path extends `:${infer Name}{${string}` ? Name
  : Path extends `:${infer Name}?` ? Name
  : Path extends `:${infer Name}` ? Name
  : never;

/** The names of a path's optional parameters: `"/:id/posts/:post?"` has `post`. */
export type OptionalParamNames<Path extends string> = Path extends `${string}/${infer Tail}`
  ? OptionalParamNames<Tail>
  : Path extends `:${infer Param}?` ? ParamNames<`:${Param}`>
  : never;

/** The path parameters of a route without a `params` schema: strings, percent-decoded. */
export type PathParams<Path extends string> =
  & { readonly [K in Exclude<ParamNames<Path>, OptionalParamNames<Path>>]: string }
  & { readonly [K in OptionalParamNames<Path>]?: string };

/** A member of the input, present if its schema is declared. */
export type Declared<Key extends string, S extends AnySchema | undefined> = S extends AnySchema
  ? { readonly [K in Key]: SchemaOutput<S> }
  : unknown;

/** The input of a handler: the validated parts of the request, and the values of the extractors. */
export type RouteInput<
  Path extends string,
  Params extends AnySchema | undefined,
  Query extends AnySchema | undefined,
  Headers extends AnySchema | undefined,
  Body extends AnySchema | undefined,
  Args extends object,
> =
  & { readonly params: Params extends AnySchema ? SchemaOutput<Params> : PathParams<Path> }
  & Declared<"query", Query>
  & Declared<"headers", Headers>
  & Declared<"body", Body>
  & Readonly<Args>;

/**
 * The result of a handler: data that its response schema accepts, or a `Response`, sent unchanged.
 */
export type RouteOutput<S extends AnySchema | undefined> =
  | (S extends AnySchema ? SchemaInput<S> : unknown)
  | Response;
