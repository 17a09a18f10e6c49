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

/** Keywords whose values are of what is described, not of JSON Schema. */
const OF_VALUES = new Set(["const", "default", "enum", "example", "examples"]);

/**
 * Drops what would be wrong within an OpenAPI document, or says nothing: what is no keyword (an
 * application's own metadata, and what belongs to a document of its own) nor begins with `x-`, patterns
 * that are none (they are read as with the flag `u`; JSON Schema Core §6.4), defaults that JSON does not
 * have, and empty lists. Its subschemas are left alone.
 */
export function tidied(schema: JsonSchema): JsonSchema {
  const tidied: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (OF_VALUES.has(keyword)) Object.assign(tidied, inJson({ [keyword]: value }));
    else if (isSaid(keyword, value)) tidied[keyword] = value;
    else if (keyword === "anyOf" || keyword === "oneOf") tidied.not = {}; // none of no alternatives
  }
  return tidied;
}

function isSaid(keyword: string, value: unknown): boolean {
  switch (keyword) {
    case "pattern":
      return isPattern(value);
    case "allOf":
    case "anyOf":
    case "oneOf":
    case "prefixItems":
    case "required":
      return Array.isArray(value) && value.length > 0;
    default:
      return KEYWORDS.has(keyword) || keyword.startsWith("x-");
  }
}

function isPattern(value: unknown): boolean {
  try {
    new RegExp(String(value), "u");
    return true;
  } catch {
    return false;
  }
}

/** Gives what JSON has of a value: nothing of a bigint, or of what holds itself. */
function inJson(value: JsonSchema): unknown {
  try {
    return JSON.parse(JSON.stringify(value, (_, each) => isNoNumber(each) ? undefined : each));
  } catch {
    return undefined;
  }
}

function isNoNumber(value: unknown): boolean {
  return typeof value === "number" && !Number.isFinite(value);
}
