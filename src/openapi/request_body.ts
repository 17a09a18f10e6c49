/**
 * The request body of an operation.
 *
 * @module
 */
import { type BodyFormat, MEDIA_TYPES } from "../core/body.ts";
import type { DeclaredInput } from "../core/declared_input.ts";
import type { AnySchema } from "../core/validation.ts";
import type { RequestBodyObject } from "./openapi_document.ts";
import type { SchemaComponents } from "./schema_components.ts";

/** Describes the body that a route takes, in each of its formats. */
export async function requestBodyOf(
  { body, consumes = ["json"] }: DeclaredInput,
  schemas: SchemaComponents,
): Promise<RequestBodyObject | undefined> {
  if (!body) return undefined;
  const schema = schemas.describe({ schema: body, direction: "input" }) ?? {};
  const inFormat = (format: BodyFormat) => [MEDIA_TYPES[format], { schema }];
  return {
    required: !await takesNothing(body),
    content: Object.fromEntries(consumes.map(inFormat)),
  };
}

/** Tells whether a schema takes `undefined`, which is what a request without a body has. */
async function takesNothing(schema: AnySchema): Promise<boolean> {
  try {
    const result = await schema["~standard"].validate(undefined);
    return result.issues === undefined;
  } catch {
    return false;
  }
}
