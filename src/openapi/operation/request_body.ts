/**
 * The request body of an operation.
 *
 * @module
 */
import { type BodyFormat, MEDIA_TYPES } from "../../core/http/body.ts";
import type { DeclaredInput } from "../../core/route/declared_input.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import type { RequestBodyObject } from "../openapi_document.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";

/** Describes the body that a route takes, in each of its formats. */
export function requestBodyOf(
  { body, consumes = ["json"] }: DeclaredInput,
  schemas: SchemaComponents,
): RequestBodyObject | undefined {
  if (!body) return undefined;
  const schema = schemas.describe({ schema: body, direction: "input" }) ?? {};
  const inFormat = (format: BodyFormat) => [MEDIA_TYPES[format], { schema }];
  return {
    required: !takesUndefined(body),
    content: Object.fromEntries(consumes.map(inFormat)),
  };
}

/** Tells whether a schema takes `undefined`, which is what a request without a body has. */
function takesUndefined(schema: AnySchema): boolean {
  try {
    const result = schema["~standard"].validate(undefined);
    if (!(result instanceof Promise)) return result.issues === undefined;
    result.catch(() => {});
  } catch {
    // what throws takes it as little
  }
  return false; // nor does boot wait for one that is asynchronous
}
