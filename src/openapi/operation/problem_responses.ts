/**
 * The problem responses that operations have in common (RFC 9457).
 *
 * @module
 */
import { type Problem, PROBLEM_MEDIA_TYPE } from "../../core/http/problem.ts";
import { errorStatusText } from "../../core/http/status_text.ts";
import type { ValidationIssue } from "../../core/http/http_exception.ts";
import type { JsonSchema } from "../json_schema/json_schema.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";
import { dtoName } from "../../core/schema/dto.ts";
import type { DocumentedUse } from "../json_schema/schema_names.ts";
import type { ResponseObject } from "../openapi_document.ts";
import type { ResolvedOpenApiOptions } from "../options.ts";

const PROBLEM_DETAILS: JsonSchema = {
  type: "object",
  description: "What went wrong (RFC 9457)",
  properties: {
    type: { type: "string", format: "uri-reference", description: "The kind of problem" },
    title: { type: "string", description: "The name of the status" },
    status: { type: "integer", minimum: 400, maximum: 599 },
    detail: { type: "string", description: "What went wrong with this request" },
    instance: {
      type: "string",
      format: "uri-reference",
      description: "The path of the request",
    },
    requestId: { type: "string", description: "By which the request is found in logs" },
    errors: {
      type: "array",
      description: "What is wrong with each value",
      items: { $ref: "#/components/schemas/ValidationIssue" },
    },
  } satisfies Record<keyof Problem, JsonSchema>,
  required: ["type", "title", "status", "instance"],
};

const VALIDATION_ISSUE: JsonSchema = {
  type: "object",
  description: "What is wrong with a value",
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
  /** What `components.schemas` needs for that, beside the schemas of the application. */
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
 * Returns the use of the schema of the application's own problem responses, unless it is a component that
 * is written by hand.
 *
 * @throws {TypeError} if the options name a schema that is missing
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

/** Returns the bodies of problem responses: the application's own, or problem documents. */
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

/** What the statuses mean that routes answer by themselves. */
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The body cannot be read",
  401: "The caller is unknown",
  403: "The caller may not do this",
  404: "There is no such resource",
  413: "The body is too large",
  415: "The body is of a type that is not read here",
  422: "The input is not valid",
  429: "There were too many requests",
};

/** The name of a problem response in `components.responses`: `NotFound`. */
export function problemResponseName(status: number): string {
  return errorStatusText(status).replaceAll(" ", "");
}

/** Describes a problem response; its description is by default that of its status. */
export function describeProblem(
  status: number,
  { contentType, schema, exampleOf }: ProblemBodies,
  description: string = DESCRIPTIONS[status] ?? errorStatusText(status),
): ResponseObject {
  const example = exampleOf?.(status, description);
  return {
    description,
    ...status === 429 && { headers: { "Retry-After": structuredClone(RETRY_AFTER) } },
    content: { [contentType]: { schema: schema(), ...example && { example } } },
  };
}

function exampleOf(status: number, detail: string): object {
  const errors = [{ in: "body", field: "name", message: "What is wrong with it" }];
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
  description: "When to try again, in seconds",
  required: true,
  schema: { type: "integer", minimum: 0 },
};
