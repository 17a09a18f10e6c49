/**
 * The types of calls, inferred from the declarations of routes.
 *
 * @module
 */
import type { ClientErrorStatusCode, ServerErrorStatusCode } from "hono/utils/http-status";
import type { BodyFormat } from "../core/http/body.ts";
import type { Problem } from "../core/http/problem.ts";
import type { ValidationIssue } from "../core/http/validation_issue.ts";
import type { OptionalParamNames, ParamNames } from "../core/route/route_input.ts";
import type { RouteTypes } from "../core/route/route_input.ts";
import type { MatchingMethod, VersionedModel } from "../core/route/route_options.ts";
import type { AnySchema, SchemaInput, SchemaOutput } from "../core/schema/validation.ts";
import type { ClientSocket } from "./socket.ts";

/** What a path, a query or a header can send: its text is sent. */
export type TextValue = string | number | boolean | bigint;

/** Headers of a call; `undefined` sends none. */
export interface CallHeaders {
  /** A header by its name. */
  readonly [name: string]: TextValue | undefined;
}

/** Options of one call; they take precedence over those of the client. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal;
  /** The time limit of an attempt, in milliseconds. */
  readonly timeoutMs?: number;
  /** How many times a failed call is repeated; see `ClientOptions`. */
  readonly retry?: number;
}

/** What the route of a call declares; its argument has {@linkcode CallOptions} too. */
export type CallInput<Path extends string, Types extends RouteTypes> =
  & ParamsOf<Path, Types["params"]>
  & Part<"query", Types["query"]>
  & HeadersOf<Types["headers"]>
  & Preconditions<Types["method"], Types["etag"]>
  & BodyOf<Types["body"], Types["format"]>;

/**
 * The arguments of a call after its path. Like the other types of a signature, it compares tuples:
 * TypeScript evaluates other conditions for all routes before it knows the path.
 */
export type CallArguments<Path, Types> = [Path, Types] extends
  [infer P extends string, infer T extends RouteTypes]
  ? IsOne<P> extends true ? Arguments<CallInput<P, T>> : [input?: object]
  : never;

/**
 * Checks whether a type is one type and not a union: an unknown path becomes all paths, and is then
 * the only error of its call.
 */
export type IsOne<T, All = T> = T extends unknown ? [All] extends [T] ? true : false : never;

/**
 * The argument of a call; optional if it has no required member. It is one object type instead of
 * an intersection, and without an alias, for short messages of the compiler.
 */
export type Arguments<Input, Options = CallOptions> = object extends Input
  ? [input?: { -readonly [K in keyof Input]: Input[K] } & Options]
  : [input: { -readonly [K in keyof Input]: Input[K] } & Options];

/** The arguments of a WebSocket after its path: no headers, and nothing is repeated. */
export type ConnectArguments<Path, Types> = [Path, Types] extends
  [infer P extends string, infer T extends RouteTypes]
  ? IsOne<P> extends true
    ? Arguments<ParamsOf<P, T["params"]> & Part<"query", T["query"]>, Omit<CallOptions, "retry">>
  : [input?: object]
  : never;

/** The member `params` of a call, if its path has parameters. */
export type ParamsOf<Path extends string, Schema extends AnySchema | undefined> =
  [ParamName<Path>] extends [never] ? unknown : Texts<"params", Params<Path, InputOf<Schema>>>;

/** The input of a schema, if there is one. */
export type InputOf<Schema> = Schema extends AnySchema ? SchemaInput<Schema> : unknown;

/** The names of the parameters of a path; `*` is that of a wildcard. */
export type ParamName<Path extends string> =
  | ParamNames<Path>
  | (Path extends `${string}*` ? "*" : never);

/** The parameters of a path. */
export type Params<Path extends string, Input> =
  & { [K in Exclude<ParamName<Path>, OptionalParamNames<Path>>]: Param<K, Input> }
  & { [K in OptionalParamNames<Path>]?: Param<K, Input> };

/** A parameter of a path. */
export type Param<K, Input> = K extends keyof Input ? NonNullable<Input[K]> : string;

/** Anything whose text a schema of strings accepts, or lists of it; literals stay literals. */
export type AsText<T> = T extends readonly (infer Item)[] ? readonly AsText<Item>[]
  : string extends T ? TextValue
  : T;

/** A member of a call whose fields are sent as text; optional if none of them is required. */
export type Texts<Key extends string, Fields> = object extends Fields
  ? { [K in Key]?: { -readonly [F in keyof Fields]: AsText<Fields[F]> } }
  : { [K in Key]: { -readonly [F in keyof Fields]: AsText<Fields[F]> } };

/** A member of a call with a schema. */
export type Part<Key extends string, Schema extends AnySchema | undefined> = Schema extends
  AnySchema ? Texts<Key, SchemaInput<Schema>> : unknown;

/** The member `headers` of a call. */
export type HeadersOf<Schema extends AnySchema | undefined> = Schema extends AnySchema
  ? Part<"headers", Schema>
  : { readonly headers?: CallHeaders };

/** The header of a conditional request to a route with `etag`, which a change must have. */
export type Preconditions<Method, Etag> = Etag extends VersionedModel
  ? Method extends MatchingMethod ? { readonly headers: { readonly "if-match": string } }
  : { readonly headers?: { readonly "if-none-match"?: string | undefined } }
  : unknown;

/** The member of the argument for each format of a body. */
export interface BodyKeys {
  /** The member for `json`. */
  readonly json: "body";
  /** The member for `form`. */
  readonly form: "form";
  /** The member for `multipart`. */
  readonly multipart: "multipart";
}

/** The member of a call for its body, by format. */
export type BodyOf<Schema extends AnySchema | undefined, Format extends BodyFormat> = Schema extends
  AnySchema ? Format extends BodyFormat ? BodyIn<BodyKeys[Format], SchemaInput<Schema>>
  : never
  : unknown;

/** A body as a member of a call. */
export type BodyIn<Key extends string, Body> = undefined extends Body
  ? { readonly [K in Key]?: Body }
  : { readonly [K in Key]: Body };

/** A value that was sent as JSON: a `Date` arrives as its text, `undefined` in a list as `null`. */
export type Received<T> = T extends string | number | boolean | null | undefined ? T
  : T extends { toJSON(): infer Json } ? Received<Json>
  : T extends readonly unknown[] ? { [K in keyof T]: ReceivedItem<T[K]> }
  : T extends object ? { [K in keyof T]: Received<T[K]> }
  : T;

/** An item of a list that was sent as JSON, an optional one of a tuple too. */
export type ReceivedItem<T> = T extends undefined ? null : Received<T>;

/** A successful answer. */
export interface Success<Status extends number, Data> {
  /** The status, below 400. */
  readonly status: Status;
  /** The body: parsed if it is JSON, else its text; `undefined` if it is empty. */
  readonly data: Data;
  /** The response, whose body was read. */
  readonly response: Response;
  /** Absent. */
  readonly problem?: undefined;
}

/** An answer with a problem. */
export interface Failure<P> {
  /** The problem document; one with the status alone for any other body. */
  readonly problem: P;
  /** The response, whose body was read. */
  readonly response: Response;
  /** Absent. */
  readonly data?: undefined;
  /** Absent. */
  readonly status?: undefined;
}

/** The successful answers of a route. */
export type SuccessOf<Types extends RouteTypes> = Types["method"] extends "HEAD"
  ? Success<Types["status"] | Successful<keyof Types["responses"]>, undefined>
  : Types["output"] extends AnySchema
    ? Success<Types["status"], Received<SchemaOutput<Types["output"]>>>
  : Types["status"] extends 204 ? Success<204, undefined>
  : [Successful<keyof Types["responses"]>] extends [never] ? Success<Types["status"], unknown>
  : {
    [S in Successful<keyof Types["responses"]>]: Success<S, DeclaredData<Types["responses"][S], S>>;
  }[Successful<keyof Types["responses"]>];

/** The statuses of problems. */
export type ProblemStatus = Exclude<ClientErrorStatusCode | ServerErrorStatusCode, -1>;

/** The statuses below 400. */
export type Successful<Status> = Exclude<Extract<Status, number>, ProblemStatus>;

/** The data of a declared response. */
export type DeclaredData<Declared, Status> = Declared extends
  { readonly schema: infer S extends AnySchema } ? Received<SchemaOutput<S>>
  : Declared extends { readonly contentType: string } ? string
  : Status extends 204 | 205 | 304 ? undefined
  : unknown;

/**
 * The problems of a route: those of its declared responses, those with `errors` of invalid input,
 * and any other.
 */
export type FailureOf<Responses, Invalid extends ProblemStatus> = Failure<
  | DeclaredProblemOf<Responses, Invalid | Extract<keyof Responses, ProblemStatus>>
  | ProblemWith<Exclude<ProblemStatus, Invalid | keyof Responses>>
>;

/** The status of invalid input, if a route declares a schema of its input. */
export type InvalidStatus<Types extends RouteTypes> =
  [Extract<Types["params" | "query" | "headers" | "body"], AnySchema>] extends [never] ? never
    : 422;

/** A problem that a route declares. */
export type DeclaredProblemOf<Responses, Status extends ProblemStatus> = Status extends
  keyof Responses
  ? Responses[Status] extends { readonly schema: infer S extends AnySchema }
    ? Received<SchemaOutput<S>> & { readonly status: Status }
  : ProblemWith<Status>
  : InvalidInput;

/** The problem of a call whose input is invalid. */
export interface InvalidInput extends ProblemWith<422> {
  /** The reasons, one for each invalid value; at most 100. */
  readonly errors: readonly ValidationIssue[];
}

/** A problem with a status. */
export type ProblemWith<Status extends number> = Omit<Problem, "status"> & {
  readonly status: Status;
};

/** The data of a call. */
export type DataOf<Types> = [Types] extends [infer T extends RouteTypes] ? SuccessOf<T>["data"]
  : never;

/** The answers to a call. */
export type AnswerOf<Types> = [Types] extends [infer T extends RouteTypes] ?
    | SuccessOf<T>
    | NotModified<T["method"], T["etag"]>
    | FailureOf<T["responses"], InvalidStatus<T>>
  : never;

/** The answer of a route with `etag` to a call with `if-none-match`. */
export type NotModified<Method, Etag> = Etag extends VersionedModel
  ? Method extends "GET" | "HEAD" ? Success<304, undefined> : never
  : never;

/** The events of a route's stream. */
export type EventOf<Types> = [Types] extends
  [{ readonly responses: { readonly 200: { readonly schema: infer S extends AnySchema } } }]
  ? ServerSentEvent<Received<SchemaOutput<S>>>
  : ServerSentEvent<unknown>;

/** The path of a route, unless its response has a schema or no body, and thus no events. */
export type EventPath<Path, Types> = [Types] extends
  [{ readonly output: AnySchema } | { readonly status: 204 }] ? Path & NoEvents : Path;

/** Why a route cannot send events. */
export interface NoEvents {
  /** The reason. */
  readonly reason: "its response is data, or has no body";
}

/** An event of a stream (https://html.spec.whatwg.org/#server-sent-events). */
export interface ServerSentEvent<Json> {
  /** Its name; `message` by default. */
  readonly event: string;
  /** Its data. */
  readonly data: string;
  /** The last id of the stream; empty by default. */
  readonly id: string;
  /**
   * Parses its data.
   *
   * @throws {SyntaxError} if it is not JSON
   */
  json(): Json;
}

/** The messages that a route declares for its WebSocket. */
export interface DeclaredMessages {
  /** Its responses by status. */
  readonly responses: {
    /** The messages. */
    readonly 101: { readonly receives: AnySchema; readonly sends: AnySchema };
  };
}

/** The WebSocket of a route. */
export type SocketOf<Types> = [Types] extends [infer T extends DeclaredMessages] ? ClientSocket<
    SchemaInput<T["responses"][101]["receives"]>,
    Received<SchemaOutput<T["responses"][101]["sends"]>>
  >
  : never;

/** The path of a route, unless it declares no messages. */
export type SocketPath<Path, Types> = [Types] extends [DeclaredMessages] ? Path : Path & NoMessages;

/** Why a route has no WebSocket. */
export interface NoMessages {
  /** The reason. */
  readonly reason: "its openapi.responses[101] has no schemas of messages";
}
