/**
 * The types of a route: of its declaration, and of its handler, inferred from it.
 *
 * @module
 */
import type { BodyFormat } from "../http/body.ts";
import type { RouteResponses } from "./route_openapi.ts";
import type { MatchingMethod, RouteMethod, RouteStatus, VersionedModel } from "./route_options.ts";
import type { DeclaredVersion } from "./version.ts";
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

/** The member `version` of the input: the version that `If-Match` names, `undefined` for `*`. */
export type MatchedVersion<Method extends RouteMethod, Etag extends VersionedModel | undefined> =
  Etag extends VersionedModel
    ? Method extends MatchingMethod ? { readonly version: number | undefined } : unknown
    : unknown;

/**
 * The result of a handler: data that its response schema accepts, or a `Response`, sent unchanged.
 */
export type RouteOutput<
  S extends AnySchema | undefined,
  Method extends RouteMethod = RouteMethod,
  Etag extends VersionedModel | undefined = undefined,
> =
  | (S extends AnySchema ? VersionedData<SchemaInput<S>, Method, Etag> : unknown)
  | Response;

/** Data of which an `ETag` is made: it has a version. */
export type VersionedData<
  Data,
  Method extends RouteMethod,
  Etag extends VersionedModel | undefined,
> = Etag extends VersionedModel ? Method extends "DELETE" ? Data
  : Data extends object ? Data & { readonly [K in Etag["~version"]]: number }
  : Data
  : Data;

/** The types of a route's declaration, of which a typed client infers its calls. */
export interface RouteTypes {
  /** Its method. */
  readonly method: RouteMethod;
  /** Its path after the prefix of its controller. */
  readonly path: string;
  /** The schema of the path parameters. */
  readonly params: AnySchema | undefined;
  /** The schema of the query. */
  readonly query: AnySchema | undefined;
  /** The schema of the headers. */
  readonly headers: AnySchema | undefined;
  /** The schema of the body. */
  readonly body: AnySchema | undefined;
  /** The formats of the body. */
  readonly format: BodyFormat;
  /** The schema of the result. */
  readonly output: AnySchema | undefined;
  /** The status of the response. */
  readonly status: RouteStatus;
  /** Its own version. */
  readonly version: DeclaredVersion | undefined;
  /** Its other responses by status. */
  readonly responses: RouteResponses;
  /** The model of which its `ETag` is made. */
  readonly etag: VersionedModel | undefined;
}

/** The types of a route without options. */
export interface PlainRouteTypes<Method extends RouteMethod, Path extends string>
  extends RouteTypes {
  /** Its method. */
  readonly method: Method;
  /** Its path. */
  readonly path: Path;
  /** No schema. */
  readonly params: undefined;
  /** No schema. */
  readonly query: undefined;
  /** No schema. */
  readonly headers: undefined;
  /** No schema. */
  readonly body: undefined;
  /** No schema. */
  readonly output: undefined;
  /** Its status. */
  readonly status: 200;
  /** No version. */
  readonly version: undefined;
  /** No other responses. */
  readonly responses: Readonly<Record<never, never>>;
  /** No model. */
  readonly etag: undefined;
}
