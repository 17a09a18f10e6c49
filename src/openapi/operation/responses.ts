/**
 * The responses of an operation.
 *
 * @module
 */
import { type DeclaredInput, inputOf } from "../../core/route/declared_input.ts";
import type { RouteResponse } from "../../core/route/route_openapi.ts";
import { needsIdentity, type RouteProtection } from "../../core/route/route_protection.ts";
import type { PlacedRoute } from "../../core/route/route_table.ts";
import { successStatusText } from "../../core/http/status_text.ts";
import type { JsonSchema } from "../json_schema/json_schema.ts";
import type { OperationMethod, OperationObject, ResponseObject } from "../openapi_document.ts";
import { describeProblem, type ProblemBodies, problemResponseName } from "./problem_responses.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";

type Responses = OperationObject["responses"];

/** What decides the problems that an operation may answer with. */
export interface ProblemSources {
  /** How its route is protected. */
  readonly protection: RouteProtection;
  /** Whether guards stand before it of which it is not known what they need. */
  readonly isGuarded: boolean;
  /** Whether there may be nothing at its path, or not in the version of the request. */
  readonly mayBeMissing: boolean;
  /** Whether the number of requests is limited. */
  readonly isRateLimited: boolean;
}

/** What the responses of all operations have in common. */
export interface ResponsesContext {
  /** The schemas of the document. */
  readonly schemas: SchemaComponents;
  /** The bodies of problem responses. */
  readonly problems: ProblemBodies;
}

/** Describes what a route answers: what it lists, else its status; and the problems it can have. */
export function responsesOf(
  { bound }: PlacedRoute,
  method: OperationMethod,
  { sources, ...context }: ResponsesContext & { readonly sources: ProblemSources },
): Responses {
  const { openapi: { responses: listed = {} } = {}, response, status = 200 } = bound.route.options;
  const success: ResponseObject = {
    description: successStatusText(status),
    ...response
      ? content(context.schemas.describe({ schema: response, direction: "output" }))
      : anyBody(status),
  };
  const hasListedSuccess = Object.keys(listed).some((each) => Number(each) < 400 && each !== "304");
  const described: Record<string, Responses[string]> = {
    ...(response || !hasListedSuccess) && { [status]: success },
  };
  for (const problem of problemsOf(sources, inputOf(bound.route.options))) {
    described[problem] = { $ref: `#/components/responses/${problemResponseName(problem)}` };
  }
  for (const [key, said] of Object.entries(listed)) {
    const isSuccess = Number(key) === status;
    described[key] = isSuccess
      ? listedResponse(said, success, context.schemas)
      : listedResponse(said, usualResponse(Number(key), said, context), context.schemas);
  }
  return method === "head" ? withoutBodies(described) : described;
}

/** What is known of a response by its status: a problem, or any body. */
function usualResponse(
  status: number,
  said: string | RouteResponse,
  { problems }: ResponsesContext,
): Partial<ResponseObject> {
  const description = typeof said === "string" ? said : said.description;
  return status >= 400 ? describeProblem(status, problems, description) : anyBody(status);
}

/** Describes a response as its route lists it; what the list does not say is as usual. */
function listedResponse(
  said: string | RouteResponse,
  usual: Partial<ResponseObject>,
  schemas: SchemaComponents,
): ResponseObject {
  const { description, headers, ...body } = typeof said === "string" ? { description: said } : said;
  const all = { ...usual.headers, ...headersOf(headers) };
  return {
    ...hasBody(body) ? bodyOf(body, schemas) : usual,
    description,
    ...Object.keys(all).length > 0 && { headers: all },
  };
}

/** Nothing is known of a body without a schema, not even whether there is one. */
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

/** Describes a body that is listed: of a type that is not JSON, it is text unless there is a schema. */
function bodyOf(
  { schema, contentType = "application/json" }: ListedBody,
  schemas: SchemaComponents,
): Pick<ResponseObject, "content"> {
  const json = schema ? schemas.describe({ schema, direction: "output" }) : { type: "string" };
  return content(json, contentType);
}

function problemsOf(
  { protection, isGuarded, mayBeMissing, isRateLimited }: ProblemSources,
  { params, query, headers, body }: DeclaredInput,
): readonly number[] {
  return [
    ...body ? [400, 413, 415] : [],
    ...needsIdentity(protection) || isGuarded ? [401] : [],
    ...protection === "roles" || isGuarded ? [403] : [],
    ...mayBeMissing ? [404] : [],
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
