/**
 * Removing keywords from the JSON Schema of a library that are invalid in a document.
 *
 * @module
 */
import type { JsonSchema } from "./json_schema.ts";

/** Keywords of JSON Schema 2020-12 and OpenAPI 3.1 that are valid in any schema. */
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

/** Keywords whose values are examples of the described values. */
const OF_VALUES = new Set(["const", "default", "enum", "example", "examples"]);

/**
 * Removes what is invalid or meaningless in an OpenAPI document: unknown keywords (such as metadata
 * of the application) that do not begin with `x-`, invalid patterns (they are parsed with the flag
 * `u`; JSON Schema Core §6.4), defaults that JSON cannot represent, and empty lists. Subschemas are
 * kept as they are.
 */
export function tidied(schema: JsonSchema): JsonSchema {
  const tidied: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (OF_VALUES.has(keyword)) Object.assign(tidied, inJson({ [keyword]: value }));
    else if (isKept(keyword, value)) tidied[keyword] = value;
    // no value matches one of no alternatives
    else if (keyword === "anyOf" || keyword === "oneOf") tidied.not = {};
  }
  return tidied;
}

function isKept(keyword: string, value: unknown): boolean {
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

/** Returns the JSON form of a value; `undefined` for a bigint, or a value that contains itself. */
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
