/**
 * The error responses that operations share: problem documents (RFC 9457), or those of
 * the application.
 *
 * @module
 */
import { type Problem, PROBLEM_MEDIA_TYPE } from "../../core/http/problem.ts";
import { errorStatusText } from "../../core/http/status_text.ts";
import type { ValidationIssue } from "../../core/http/validation_issue.ts";
import type { JsonSchema } from "../json_schema/json_schema.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";
import { dtoName } from "../../core/schema/dto.ts";
import type { DocumentedUse } from "../json_schema/schema_names.ts";
import type { ResponseObject } from "../openapi_document.ts";
import type { ResolvedOpenApiOptions } from "../options.ts";

const PROBLEM_DETAILS: JsonSchema = {
  type: "object",
  description: "An error (RFC 9457)",
  properties: {
    type: { type: "string", format: "uri-reference", description: "The kind of problem" },
    title: { type: "string", description: "The name of the status" },
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: { type: "string", description: "The error of this request" },
    instance: {
      type: "string",
      format: "uri-reference",
      description: "The path of the request",
    },
    requestId: { type: "string", description: "The id of the request in logs" },
    errors: {
      type: "array",
      description: "The error of each invalid value",
      items: { $ref: "#/components/schemas/ValidationIssue" },
    },
  } satisfies Record<keyof Problem, JsonSchema>,
  required: ["type", "title", "status", "instance"],
};

const VALIDATION_ISSUE: JsonSchema = {
  type: "object",
  description: "The error of an invalid value",
  properties: {
    in: { type: "string", enum: ["body", "query", "path", "header"] },
    field: { type: "string", description: "Its path, such as `a.b.0`" },
    message: { type: "string" },
  } satisfies Record<keyof ValidationIssue, JsonSchema>,
  required: ["in", "field", "message"],
};

/** The bodies of problem responses. */
export interface ProblemBodies {
  /** Their media type. */
  readonly contentType: string;
  /** Returns their schema, which may become a component. */
  schema(): JsonSchema;
  /** The components to which that schema refers, in addition to those of the application. */
  readonly components: Readonly<Record<string, JsonSchema>>;
  /** Returns an example. */
  exampleOf?(status: number, detail: string): object;
}

const PROBLEM_DOCUMENTS: ProblemBodies = {
  contentType: PROBLEM_MEDIA_TYPE,
  schema: () => ({ $ref: "#/components/schemas/ProblemDetails" }),
  components: { ProblemDetails: PROBLEM_DETAILS, ValidationIssue: VALIDATION_ISSUE },
  exampleOf,
};

/**
 * Returns the use of the schema of the application's error responses; `undefined` for a component
 * written by hand.
 *
 * @throws {TypeError} if the schema that the options name is missing
 */
export function problemUseOf(
  { problem, components }: ResolvedOpenApiOptions,
  uses: readonly DocumentedUse[],
): DocumentedUse | undefined {
  if (!problem) return undefined;
  const { schema } = problem;
  const isName = typeof schema === "string";
  if (isName && Object.hasOwn(components?.schemas ?? {}, schema)) return undefined;
  const used = isName ? uses.find((use) => dtoName(use.schema) === schema)?.schema : schema;
  if (!used) {
    throw new TypeError(
      `Cannot describe the problem responses: no route uses a schema named ${schema}, and ` +
        "components.schemas does not have it",
    );
  }
  return { schema: used, direction: "output", user: "the problem responses", isWhole: true };
}

/** Returns the bodies of error responses: those of the options, or problem documents. */
export function problemBodiesOf(
  { problem }: ResolvedOpenApiOptions,
  { use, schemas }: { readonly use: DocumentedUse | undefined; readonly schemas: SchemaComponents },
): ProblemBodies {
  if (!problem) return PROBLEM_DOCUMENTS;
  const { schema, contentType = "application/json" } = problem;
  return {
    contentType,
    schema: () => use ? schemas.describe(use) ?? {} : { $ref: `#/components/schemas/${schema}` },
    components: {},
  };
}

/** The descriptions of the statuses with which the framework answers. */
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The request cannot be read",
  401: "Authentication is missing or invalid",
  403: "The caller is not allowed to do this",
  404: "The resource does not exist",
  412: "The resource has another version than If-Match names",
  413: "The body is too large",
  415: "The media type of the body is not supported",
  422: "The input is invalid",
  428: "If-Match is missing",
  429: "There are too many requests",
};

/** The name of a problem response in `components.responses`: `NotFound`. */
export function problemResponseName(status: number): string {
  return errorStatusText(status).replaceAll(" ", "");
}

/** Describes a problem response; its description is by default that of its status. */
export function describeProblem(
  { status, description = DESCRIPTIONS[status] ?? errorStatusText(status) }: {
    readonly status: number;
    readonly description?: string;
  },
  { contentType, schema, exampleOf }: ProblemBodies,
): ResponseObject {
  const example = exampleOf?.(status, description);
  return {
    description,
    ...status === 429 && { headers: { "Retry-After": structuredClone(RETRY_AFTER) } },
    content: { [contentType]: { schema: schema(), ...example && { example } } },
  };
}

/** Describes the 409 of a route with `idempotent`, whose handler can have others. */
export function describeRunning(bodies: ProblemBodies): ResponseObject {
  const description = "A request with the same Idempotency-Key runs, or the state conflicts";
  return {
    ...describeProblem({ status: 409, description }, bodies),
    headers: { "Retry-After": { ...structuredClone(RETRY_AFTER), required: false } },
  };
}

function exampleOf(status: number, detail: string): object {
  const errors = [{ in: "body", field: "name", message: "Why it is invalid" }];
  return {
    type: "about:blank",
    title: errorStatusText(status),
    status,
    detail,
    instance: "/",
    ...status === 422 && { errors },
  };
}

const RETRY_AFTER = {
  description: "The time after which to try again, in seconds",
  required: true,
  schema: { type: "integer", minimum: 0 },
};
