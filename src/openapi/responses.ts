/**
 * The responses of an operation.
 *
 * @module
 */
import { type DeclaredInput, inputOf } from "../core/declared_input.ts";
import type { RouteResponse } from "../core/route_openapi.ts";
import type { RouteProtection } from "../core/route_protection.ts";
import type { PlacedRoute } from "../core/route_table.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { OperationMethod, OperationObject, ResponseObject } from "./openapi_document.ts";
import { problemResponse, problemResponseName } from "./problem_responses.ts";
import type { SchemaComponents } from "./schema_components.ts";

type Responses = OperationObject["responses"];

/** What decides the problems that an operation may answer with. */
export interface ProblemSources {
  /** How its route is protected. */
  readonly protection: RouteProtection;
  /** Whether guards stand before it of which it is not known what they need. */
  readonly isGuarded: boolean;
  /** Whether its path has parameters. */
  readonly hasPathParameters: boolean;
  /** Whether the number of requests is limited. */
  readonly isRateLimited: boolean;
}

/** Names of the statuses of success. */
const SUCCESS_TEXT: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  203: "Non-Authoritative Information",
  204: "No Content",
  206: "Partial Content",
  207: "Multi-Status",
  208: "Already Reported",
  226: "IM Used",
};

/** Describes what a route answers: what it lists, else its status; and the problems it can have. */
export function responsesOf(
  { bound }: PlacedRoute,
  method: OperationMethod,
  { schemas, sources }: { readonly schemas: SchemaComponents; readonly sources: ProblemSources },
): Responses {
  const { openapi: { responses: listed = {} } = {}, response, status = 200 } = bound.route.options;
  const success: ResponseObject = {
    description: SUCCESS_TEXT[status] ?? "Success",
    ...response
      ? content(schemas.describe({ schema: response, direction: "output" }))
      : anyBody(status),
  };
  const isListed = Object.keys(listed).some((each) => Number(each) < 400);
  const described: Record<string, Responses[string]> = {
    ...(response || !isListed) && { [status]: success },
  };
  for (const problem of problemsOf(sources, inputOf(bound.route.options))) {
    described[problem] = { $ref: `#/components/responses/${problemResponseName(problem)}` };
  }
  for (const [key, said] of Object.entries(listed)) {
    const { description, headers, ...body } = typeof said === "string"
      ? { description: said }
      : said;
    const usual = Number(key) >= 400
      ? problemResponse(Number(key), description)
      : Number(key) === status
      ? success
      : anyBody(Number(key));
    const all = { ...usual.headers, ...headersOf(headers) };
    described[key] = {
      ...hasBody(body) ? bodyOf(body, schemas) : usual,
      description,
      ...Object.keys(all).length > 0 && { headers: all },
    };
  }
  return method === "head" ? withoutBodies(described) : described;
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
  { protection, isGuarded, hasPathParameters, isRateLimited }: ProblemSources,
  { params, query, headers, body }: DeclaredInput,
): readonly number[] {
  const needsIdentity = protection === "identity" || protection === "roles";
  return [
    ...body ? [400, 413, 415] : [],
    ...needsIdentity || isGuarded ? [401] : [],
    ...protection === "roles" || isGuarded ? [403] : [],
    ...hasPathParameters ? [404] : [],
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
