/**
 * The components of a document.
 *
 * @module
 */
import { PROBLEM_MEDIA_TYPE } from "../core/http/problem.ts";
import type { ComponentsObject, PathItemObject, ResponseObject } from "./openapi_document.ts";
import {
  describeProblem,
  PROBLEM_SCHEMAS,
  problemResponseName,
} from "./operation/problem_responses.ts";
import type { SchemaComponents } from "./json_schema/schema_components.ts";

/**
 * Gives the components that the operations refer to, and those by hand, which go before them.
 *
 * @throws {TypeError} if a schema has the name of one of problem documents
 */
export function componentsOf(
  paths: Readonly<Record<string, PathItemObject>>,
  schemas: SchemaComponents,
  byHand: ComponentsObject = {},
): ComponentsObject | undefined {
  const generated = schemas.usedIn([paths, byHand]);
  const problems = new Set<string>();
  let hasProblem = false;
  for (const { responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response) problems.add(status);
      hasProblem ||= "$ref" in response || PROBLEM_MEDIA_TYPE in (response.content ?? {});
    }
  }
  const taken = hasProblem && Object.keys(PROBLEM_SCHEMAS).find((name) => name in generated);
  if (taken) throw new TypeError(`Cannot describe ${taken}: problem documents have that name`);
  const responses: Record<string, ResponseObject> = {};
  for (const status of [...problems].map(Number)) {
    responses[problemResponseName(status)] = describeProblem(status);
  }
  const components = {
    ...byHand,
    schemas: {
      ...generated,
      ...hasProblem && structuredClone(PROBLEM_SCHEMAS), // each document has its own
      ...byHand.schemas,
    },
    responses: { ...responses, ...byHand.responses },
  };
  const filled = Object.entries(components).filter(([, members]) =>
    members !== undefined && Object.keys(members).length > 0
  );
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}
