/**
 * The components of a document.
 *
 * @module
 */
import type { ComponentsObject, PathItemObject, ResponseObject } from "./openapi_document.ts";
import { describeProblem, problemResponseName } from "./operation/problem_responses.ts";
import type { ResponsesContext } from "./operation/responses.ts";

/**
 * Returns the components to which the operations refer; components written by hand take precedence.
 *
 * @throws {TypeError} if a schema has the name of a schema of problem documents
 */
export function componentsOf(
  paths: Readonly<Record<string, PathItemObject>>,
  byHand: ComponentsObject = {},
  { schemas, problems }: ResponsesContext,
): ComponentsObject | undefined {
  const statuses = new Set<string>();
  let hasProblem = false;
  for (const { responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response) statuses.add(status);
      hasProblem ||= "$ref" in response || problems.contentType in (response.content ?? {});
    }
  }
  const responses: Record<string, ResponseObject> = {};
  for (const status of [...statuses].map(Number)) {
    responses[problemResponseName(status)] = describeProblem(status, problems);
  }
  const generated = schemas.usedIn([paths, responses, byHand]);
  const taken = hasProblem && Object.keys(problems.components).find((name) => name in generated);
  if (taken) throw new TypeError(`Cannot describe ${taken}: problem documents have that name`);
  const components = {
    ...byHand,
    schemas: {
      ...generated,
      ...hasProblem && structuredClone(problems.components), // a copy for each document
      ...byHand.schemas,
    },
    responses: { ...responses, ...byHand.responses },
  };
  const filled = Object.entries(components).filter(([, members]) =>
    members !== undefined && Object.keys(members).length > 0
  );
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}
