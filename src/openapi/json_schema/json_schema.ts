/**
 * JSON Schema (draft 2020-12), as far as OpenAPI documents are built from it.
 *
 * @module
 */

/** A JSON Schema. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** A `Date` in JSON: the result of its `toJSON()`. */
export const DATE_TIME: { readonly type: "string"; readonly format: "date-time" } = {
  type: "string",
  format: "date-time",
};

/** A file (OpenAPI 3.1.1 §4.8.14.4); without the format, Swagger UI shows a text field. */
export const FILE: {
  readonly type: "string";
  readonly format: "binary";
  readonly contentMediaType: string;
} = { type: "string", format: "binary", contentMediaType: "application/octet-stream" };

/**
 * An internal keyword, never in a document: the name of a type that JSON Schema cannot represent.
 */
export const UNKNOWN = "fw.unknown";

/** Keywords whose values are schemas by name. */
const OF_NAMED_SCHEMAS = new Set(["properties", "patternProperties", "dependentSchemas"]);

/** Keywords whose values are lists of schemas. */
const OF_SCHEMA_LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);

/** Keywords whose values are schemas. */
const OF_SCHEMAS = new Set([
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

/** Replaces the direct subschemas of a schema; its other keywords are kept. */
export function mapSubschemas(
  schema: JsonSchema,
  replace: (subschema: JsonSchema) => JsonSchema,
): JsonSchema {
  const each = (value: unknown) => isJsonSchema(value) ? replace(value) : value;
  const mapped: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (OF_SCHEMAS.has(keyword)) mapped[keyword] = each(value);
    else if (OF_SCHEMA_LISTS.has(keyword) && Array.isArray(value)) {
      mapped[keyword] = value.map(each);
    } else if (OF_NAMED_SCHEMAS.has(keyword) && isJsonSchema(value)) {
      const entries = Object.entries(value).map(([name, one]) => [name, each(one)]);
      mapped[keyword] = Object.fromEntries(entries);
    } else mapped[keyword] = value;
  }
  return mapped;
}

/** Visits the direct subschemas of a schema. */
export function visitSubschemas(
  schema: JsonSchema,
  visit: (subschema: JsonSchema) => void,
): void {
  for (const [keyword, value] of Object.entries(schema)) {
    if (typeof value !== "object" || value === null) continue;
    if (OF_SCHEMAS.has(keyword) && isJsonSchema(value)) visit(value);
    else if (OF_SCHEMA_LISTS.has(keyword) || OF_NAMED_SCHEMAS.has(keyword)) {
      for (const each of Object.values(value)) if (isJsonSchema(each)) visit(each);
    }
  }
}

/** Checks whether a value is a schema other than `true` and `false`. */
export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Checks whether a pattern, which has no flags, means the same as a regular expression
 * with these flags.
 */
export function isPatternWith(flags: string): boolean {
  return /^[dguvy]*$/.test(flags);
}
