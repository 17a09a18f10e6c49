/** OpenAPI documents of one operation, for comparisons. */
import { SCHEMAS } from "./schema_changes.ts";

/** A document, as JSON. */
export type Json = { readonly [key: string]: unknown };

/** Creates a document of operations, by `POST /orders/{id}`. */
export function documentOf(operations: Json, others: Json = {}): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, operation] of Object.entries(operations)) {
    const [method = "", path = ""] = name.split(" ");
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation };
  }
  return {
    openapi: "3.1.1",
    info: { title: "Orders", version: "1.0.0" },
    paths,
    components: { schemas: SCHEMAS },
    ...others,
  };
}

/** Creates an operation that receives a body. */
export function receiving(schema: unknown): Json {
  return {
    operationId: "receive",
    requestBody: { required: true, content: json(schema) },
    responses: { 204: { description: "Done" } },
  };
}

/** Creates an operation that sends a body. */
export function sending(schema: unknown): Json {
  return {
    operationId: "send",
    responses: { 200: { description: "It", content: json(schema) } },
  };
}

/** Describes a body in JSON. */
export function json(schema: unknown): Json {
  return { "application/json": { schema } };
}
