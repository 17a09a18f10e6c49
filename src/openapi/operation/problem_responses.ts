/**
 * The problem responses that operations have in common (RFC 9457).
 *
 * @module
 */
import { type Problem, PROBLEM_MEDIA_TYPE } from "../../core/http/problem.ts";
import { errorStatusText } from "../../core/http/status_text.ts";
import type { ValidationIssue } from "../../core/http/http_exception.ts";
import type { JsonSchema } from "../json_schema/json_schema.ts";
import type { ResponseObject } from "../openapi_document.ts";

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

/** The schemas of problem documents, in `components.schemas`. */
export const PROBLEM_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ProblemDetails: PROBLEM_DETAILS,
  ValidationIssue: VALIDATION_ISSUE,
};

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

/** A response with a problem document; what it means is by default what its status says. */
export function describeProblem(
  status: number,
  description: string = DESCRIPTIONS[status] ?? errorStatusText(status),
): ResponseObject {
  const schema = { $ref: "#/components/schemas/ProblemDetails" };
  return {
    description,
    ...status === 429 && { headers: { "Retry-After": structuredClone(RETRY_AFTER) } },
    content: { [PROBLEM_MEDIA_TYPE]: { schema, example: exampleOf(status, description) } },
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
