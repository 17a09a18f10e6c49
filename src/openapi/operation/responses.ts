/**
 * The responses of an operation.
 *
 * @module
 */
import { type DeclaredInput, inputOf } from "../../core/route/declared_input.ts";
import { demandsMatch } from "../../core/route/route_options.ts";
import type { Route } from "../../core/route/route.ts";
import type { RouteResponse } from "../../core/route/route_openapi.ts";
import {
  needsIdentity,
  needsPermission,
  type RouteProtection,
} from "../../core/route/route_protection.ts";
import type { PlacedRoute } from "../../core/route/route_table.ts";
import { effectsOf } from "../../core/schema/response_effects.ts";
import { successStatusText } from "../../core/http/status_text.ts";
import type { JsonSchema } from "../json_schema/json_schema.ts";
import type {
  HeaderObject,
  OperationMethod,
  OperationObject,
  ResponseObject,
} from "../openapi_document.ts";
import {
  describeProblem,
  describeRunning,
  type ProblemBodies,
  problemResponseName,
} from "./problem_responses.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";

type Responses = OperationObject["responses"];

/** The facts from which the error responses of an operation follow. */
export interface ProblemSources {
  /** How its route is protected. */
  readonly protection: RouteProtection;
  /** Whether it has guards whose requirements are unknown. */
  readonly isGuarded: boolean;
  /** Whether its resource, or the version of the request, can be missing. */
  readonly mayBeMissing: boolean;
  /** Whether a request must name a version, without which its path is ambiguous. */
  readonly needsVersion: boolean;
  /** Whether the number of requests is limited. */
  readonly isRateLimited: boolean;
}

/** The values that the responses of all operations share. */
export interface ResponsesContext {
  /** The schemas of the document. */
  readonly schemas: SchemaComponents;
  /** The bodies of error responses. */
  readonly problems: ProblemBodies;
}

/**
 * Describes the responses of a route: its success, those that it lists, and its possible errors.
 */
export function responsesOf(
  { bound }: PlacedRoute,
  method: OperationMethod,
  { sources, ...context }: ResponsesContext & { readonly sources: ProblemSources },
): Responses {
  const { openapi: { responses: listed = {} } = {}, response, status = 200 } = bound.route.options;
  const etag = etagOf(bound.route);
  const headers = {
    ...etag && status !== 204 && { ETag: etag },
    ...effectsOf(response).headers,
  };
  const success: ResponseObject = {
    description: successStatusText(status),
    ...Object.keys(headers).length > 0 && { headers },
    ...response
      ? content(context.schemas.describe({ schema: response, direction: "output" }))
      : anyBody(status),
  };
  const hasListedSuccess = Object.keys(listed).some((each) => Number(each) < 400 && each !== "304");
  const described: Record<string, Responses[string]> = {
    ...(response || !hasListedSuccess) && { [status]: success },
    ...etag && isSafe(bound.route) && {
      304: { description: "The client has the current version", headers: { ETag: etag } },
    },
  };
  const problems = [
    ...problemsOf(sources, inputOf(bound.route.options)),
    ...bound.route.options.etag && demandsMatch(bound.route.method) ? [400, 412, 428] : [],
    ...bound.route.options.idempotent ? [400, 422] : [],
  ];
  for (const problem of new Set(problems)) {
    described[problem] = { $ref: `#/components/responses/${problemResponseName(problem)}` };
  }
  if (bound.route.options.idempotent) described[409] = describeRunning(context.problems);
  for (const [key, declared] of Object.entries(listed)) {
    const isSuccess = Number(key) === status;
    described[key] = isSuccess
      ? listedResponse(declared, success, context.schemas)
      : listedResponse(declared, usualResponse(Number(key), declared, context), context.schemas);
  }
  return method === "head" ? withoutBodies(described) : described;
}

/** Describes a response by its status: an error, or any body. */
function usualResponse(
  status: number,
  declared: string | RouteResponse,
  { problems }: ResponsesContext,
): Partial<ResponseObject> {
  const description = typeof declared === "string" ? declared : declared.description;
  return status >= 400 ? describeProblem({ status, description }, problems) : anyBody(status);
}

/** Describes a response that the route lists; missing members are as usual for its status. */
function listedResponse(
  declared: string | RouteResponse,
  usual: Partial<ResponseObject>,
  schemas: SchemaComponents,
): ResponseObject {
  const { description, headers, ...body } = typeof declared === "string"
    ? { description: declared }
    : declared;
  const all = { ...usual.headers, ...headersOf(headers) };
  return {
    ...hasBody(body) ? bodyOf(body, schemas) : usual,
    description,
    ...Object.keys(all).length > 0 && { headers: all },
  };
}

/** Describes a body without a schema, which can be anything. */
function anyBody(status: number): Partial<ResponseObject> {
  const hasBody = status >= 200 && status < 300 && status !== 204 && status !== 205;
  return hasBody ? content({}, "*/*") : {};
}

function withoutBodies(responses: Responses): Responses {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      if ("$ref" in response) return [status, response];
      const { content: _none, ...rest } = response;
      return [status, rest];
    }),
  );
}

type ListedBody = Pick<RouteResponse, "schema" | "contentType">;

function hasBody({ schema, contentType }: ListedBody): boolean {
  return schema !== undefined || contentType !== undefined;
}

/** Describes a listed body: text without a schema, as for media types other than JSON. */
function bodyOf(
  { schema, contentType = "application/json" }: ListedBody,
  schemas: SchemaComponents,
): Pick<ResponseObject, "content"> {
  const json = schema ? schemas.describe({ schema, direction: "output" }) : { type: "string" };
  return content(json, contentType);
}

/** Describes the `ETag` of the responses of a route, if it has one. */
function etagOf({ method, options: { etag } }: Route): HeaderObject | undefined {
  if (!etag || method === "DELETE") return undefined;
  return {
    description: "The version of the resource and a digest of the body",
    schema: { type: "string" },
  };
}

function isSafe({ method }: Route): boolean {
  return method === "GET" || method === "HEAD";
}

function problemsOf(
  { protection, isGuarded, mayBeMissing, needsVersion, isRateLimited }: ProblemSources,
  { params, query, headers, body }: DeclaredInput,
): readonly number[] {
  const added = [params, query, headers, body].flatMap((schema) =>
    effectsOf(schema).problems ?? []
  );
  return [
    ...body ? [400, 413, 415] : [],
    ...added,
    ...needsIdentity(protection) || isGuarded ? [401] : [],
    ...needsPermission(protection) || isGuarded ? [403] : [],
    ...mayBeMissing ? [404] : [],
    ...needsVersion ? [400] : [],
    ...params || query || headers || body ? [422] : [],
    ...isRateLimited ? [429] : [],
  ];
}

function headersOf(meanings: RouteResponse["headers"] = {}): ResponseObject["headers"] {
  return Object.fromEntries(
    Object.entries(meanings).map(([name, description]) => [
      name,
      { description, schema: { type: "string" } },
    ]),
  );
}

function content(
  schema: JsonSchema = {},
  type = "application/json",
): Pick<ResponseObject, "content"> {
  return { content: { [type]: { schema } } };
}
