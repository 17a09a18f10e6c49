/**
 * Making the JSON Schema of a library fit for a document.
 *
 * @module
 */
import type { JsonSchema } from "./json_schema.ts";

/** Keywords of JSON Schema 2020-12 and OpenAPI 3.1 that may stand in any schema. */
const KEYWORDS = new Set([
  ...["$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$ref"],
  ...["allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then"],
  ...["contains", "items", "prefixItems", "unevaluatedItems"],
  ...["additionalProperties", "patternProperties", "properties", "propertyNames"],
  ...["unevaluatedProperties", "const", "enum", "type"],
  ...["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"],
  ...["format", "maxLength", "minLength", "pattern"],
  ...["maxContains", "maxItems", "minContains", "minItems", "uniqueItems"],
  ...["dependentRequired", "maxProperties", "minProperties", "required"],
  ...["default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"],
  ...["contentEncoding", "contentMediaType", "contentSchema"],
  ...["discriminator", "example", "externalDocs", "xml"],
]);

/**
 * Drops what would be wrong within an OpenAPI document, or says nothing: what is no keyword (an
 * application's own metadata, and what belongs to a document of its own) nor begins with `x-`, patterns
 * that are none (they are read as with the flag `u`; JSON Schema Core §6.4), defaults that JSON does not
 * have, and empty lists. Its subschemas are left alone.
 */
export function tidied(schema: JsonSchema): JsonSchema {
  const tidied: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (isSaid(keyword, value)) tidied[keyword] = value;
    else if (keyword === "anyOf" || keyword === "oneOf") tidied.not = {}; // none of no alternatives
  }
  return tidied;
}

function isSaid(keyword: string, value: unknown): boolean {
  switch (keyword) {
    case "pattern":
      return isPattern(value);
    case "default":
      return isJson(value);
    case "allOf":
    case "anyOf":
    case "oneOf":
    case "prefixItems":
    case "required":
      return Array.isArray(value) && value.length > 0;
    case "propertyNames": // which are all strings
      return JSON.stringify(value) !== '{"type":"string"}';
    default:
      return KEYWORDS.has(keyword) || keyword.startsWith("x-");
  }
}

function isPattern(value: unknown): boolean {
  try {
    return new RegExp(String(value), "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false; // a bigint, or something that holds itself
  }
}
