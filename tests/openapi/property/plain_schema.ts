/**
 * Schemas without the keywords that put schemas together.
 *
 * @module
 */
import { isJsonSchema, type JsonSchema } from "../../../src/openapi/json_schema/json_schema.ts";

/** Resolves a reference. */
export type Resolve = (reference: string) => JsonSchema;

/**
 * Returns the alternatives of a schema: each a schema with neither `$ref`, `allOf`, `anyOf` nor `oneOf` at
 * its root, and one `type` at most. What satisfies the schema satisfies one of them; what satisfies one
 * of them mostly satisfies the schema.
 */
export function alternativesOf(schema: unknown, resolve: Resolve): readonly JsonSchema[] {
  if (schema === false) return [];
  if (!isJsonSchema(schema)) return [{}];
  const { $ref, allOf = [], anyOf, oneOf, type, ...rest } = schema;
  const types: readonly JsonSchema[] = type === undefined
    ? [{ ...guessedType(rest) }]
    : [type].flat().map((type) => ({ type }));
  const parts = [
    types,
    ...typeof $ref === "string" ? [alternativesOf(resolve($ref), resolve)] : [],
    ...(allOf as unknown[]).map((part) => alternativesOf(part, resolve)),
    ...[anyOf, oneOf].filter(Array.isArray).map((list) =>
      list.flatMap((part) => alternativesOf(part, resolve))
    ),
  ];
  return parts.reduce<readonly JsonSchema[]>(
    (sofar, part) => sofar.flatMap((one) => part.map((other) => merged(one, other))),
    [rest],
  ).filter((schema) => !isJsonSchema(schema.type));
}

/** Returns the type of what keywords speak of that speak of one type. */
function guessedType(schema: JsonSchema): JsonSchema {
  if ("properties" in schema || "required" in schema) return { type: "object" };
  if ("items" in schema || "prefixItems" in schema) return { type: "array" };
  return TEXT_KEYWORDS.some((keyword) => keyword in schema) ? { type: "string" } : {};
}

/** Keywords that speak of texts; files are described without a type. */
const TEXT_KEYWORDS = ["pattern", "minLength", "format", "contentMediaType"];

function merged(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = [one.properties, other.properties].filter(isJsonSchema);
  const required = [one.required, other.required].flat().filter((name) => name !== undefined);
  const isTwoTypes = one.type !== undefined && other.type !== undefined && one.type !== other.type;
  const isWhole = isTwoTypes &&
    [one.type, other.type].every((type) => type === "integer" || type === "number");
  return {
    ...one,
    ...other,
    ...isTwoTypes && { type: isWhole ? "integer" : {} }, // no value has two types
    ...required.length > 0 && { required: [...new Set(required)] },
    ...properties.length > 0 && { properties: properties.reduce(bothOf) },
  };
}

/** Returns the properties of two schemas: what both name has to satisfy both. */
function bothOf(one: JsonSchema, other: JsonSchema): JsonSchema {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => {
    const [left, right] = [one[name], other[name]];
    return [
      name,
      left === undefined || right === undefined ? left ?? right : {
        allOf: [left, right],
      },
    ];
  }));
}
