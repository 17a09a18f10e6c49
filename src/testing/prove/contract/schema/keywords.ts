/**
 * The keywords of JSON Schema, by how several schemas that all apply are merged.
 *
 * @module
 */
import type { JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";
import { canonicalText } from "./canonical_text.ts";

/** A schema, or `true` or `false`. */
export type Schema = JsonSchema | boolean;

/** Annotations that comparisons read. */
export const READ: ReadonlySet<string> = new Set(["default", "deprecated", "x-sunset"]);

/** Keywords that were taken apart already. */
export const PARTS: ReadonlySet<string> = new Set(["$ref", "allOf"]);

/** Keywords that are schemas of their own beside the others. */
export const UNIONS: ReadonlySet<string> = new Set([...PARTS, "anyOf", "oneOf"]);

/** Keywords of which several can apply: their values are lists here. */
export const LISTS: ReadonlySet<string> = new Set(["format", "multipleOf", "pattern"]);

/** Keywords whose schemas all apply. */
export const OF_ALL: ReadonlySet<string> = new Set([
  "additionalProperties",
  "items",
  "propertyNames",
]);

/** Merges two values of a keyword that both apply. */
export const MERGES: Readonly<Record<string, (a: unknown, b: unknown) => unknown>> = {
  type: (a, b) => commonTypes(a as string[], b as string[]),
  enum: (a, b) => {
    const texts = new Set((b as unknown[]).map((value) => canonicalText(value)));
    return (a as unknown[]).filter((value) => texts.has(canonicalText(value)));
  },
  pattern: (a, b) => union(a, b),
  format: (a, b) => union(a, b),
  multipleOf: (a, b) => union(a, b),
  required: (a, b) => union(a, b),
  uniqueItems: (a, b) => a === true || b === true,
  ...Object.fromEntries(
    ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"]
      .map((name) => [name, (a, b) => Math.max(Number(a), Number(b))]),
  ),
  ...Object.fromEntries(
    ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"]
      .map((name) => [name, (a, b) => Math.min(Number(a), Number(b))]),
  ),
};

/** Keywords that comparisons understand, besides those that are taken apart. */
export const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(MERGES),
  ...OF_ALL,
  ...["contains", "contentEncoding", "contentMediaType", "dependentRequired"],
  ...["patternProperties", "prefixItems", "properties"],
]);

function commonTypes(a: readonly string[], b: readonly string[]): readonly string[] {
  const has = (types: readonly string[], type: string) =>
    types.includes(type) || type === "integer" && types.includes("number");
  return [...new Set([...a, ...b])].filter((type) => has(a, type) && has(b, type));
}

/** Two lists of restrictions, all of which apply. */
function union(a: unknown, b: unknown): readonly unknown[] {
  return [...new Set([...a as unknown[], ...b as unknown[]])].toSorted();
}

/** The keywords about values of a type. */
export const KEYWORDS_OF_TYPES: Readonly<Record<string, readonly string[]>> = {
  null: [],
  boolean: [],
  number: ["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf", "format"],
  string: ["contentEncoding", "contentMediaType", "format", "maxLength", "minLength", "pattern"],
  array: [
    ...["contains", "items", "maxContains", "maxItems", "minContains", "minItems", "prefixItems"],
    "uniqueItems",
  ],
  object: [
    ...["additionalProperties", "dependentRequired", "maxProperties", "minProperties"],
    ...["patternProperties", "properties", "propertyNames", "required"],
  ],
};
