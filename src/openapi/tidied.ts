/**
 * Making the JSON Schema of a library fit for a document.
 *
 * @module
 */
import type { JsonSchema } from "./json_schema.ts";

/** Keywords that say something of a whole JSON Schema document. */
const OF_DOCUMENTS = new Set(["$schema", "$id", "$defs", "definitions"]);

/**
 * Drops what would be wrong within an OpenAPI document, or says nothing: keywords of a document of its
 * own, patterns that are none (they are read as with the flag `u`; JSON Schema Core §6.4), defaults
 * that JSON does not have, and empty lists of required properties. Its subschemas are left alone.
 */
export function tidied(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword, value]) => {
      if (OF_DOCUMENTS.has(keyword)) return false;
      if (keyword === "pattern") return isPattern(value);
      if (keyword === "default") return isJson(value);
      if (keyword === "required") return Array.isArray(value) && value.length > 0;
      return true;
    }),
  );
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
