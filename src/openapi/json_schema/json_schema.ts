/**
 * JSON Schema (draft 2020-12), as far as an OpenAPI document needs to look into it.
 *
 * @module
 */

/** A JSON Schema. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** What JSON has for a `Date`: what its `toJSON()` gives. */
export const DATE_TIME: { readonly type: "string"; readonly format: "date-time" } = {
  type: "string",
  format: "date-time",
};

/** What stands for a file (OpenAPI 3.1.1 §4.8.14.4); without its format, Swagger UI asks for text. */
export const FILE: {
  readonly type: "string";
  readonly format: "binary";
  readonly contentMediaType: string;
} = { type: "string", format: "binary", contentMediaType: "application/octet-stream" };

/** A keyword of no document: what a library calls a value that JSON Schema has no words for. */
export const UNKNOWN = "fw.unknown";

/** Keywords whose values are schemas by names. */
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

/** Replaces the schemas that stand directly within a schema; its other keywords stay as they are. */
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

/** Calls back with each of the schemas that stand directly within a schema. */
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

/** Tells a schema that is an object from one that is `true` or `false`. */
export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells whether a pattern, which has no flags, means what a regular expression with these does. */
export function isPatternWith(flags: string): boolean {
  return /^[dguvy]*$/.test(flags);
}
