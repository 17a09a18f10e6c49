/**
 * The bounds of numbers.
 *
 * @module
 */
import type { JsonSchema } from "../../../openapi/json_schema/json_schema.ts";

/** The least and the greatest number that a schema takes. */
export function rangeOf(schema: JsonSchema): { readonly min: number; readonly max: number } {
  const bound = (value: unknown, otherwise: number) =>
    typeof value === "number" ? value : otherwise;
  return {
    min: Math.max(bound(schema.minimum, -Infinity), bound(schema.exclusiveMinimum, -Infinity)),
    max: Math.min(bound(schema.maximum, Infinity), bound(schema.exclusiveMaximum, Infinity)),
  };
}
