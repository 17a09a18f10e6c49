/**
 * Comparing what a missing value means.
 *
 * @module
 */
import type { JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";
import { found, type SchemaDifference } from "../rules.ts";
import { canonicalText } from "./canonical_text.ts";

/** Compares the defaults of something that can be omitted; a base without one promised nothing. */
export function compareDefaults(
  base: JsonSchema,
  current: JsonSchema,
): readonly SchemaDifference[] {
  const [was, is] = [base.default, current.default];
  if (was === undefined || canonicalText(was) === canonicalText(is ?? null)) return [];
  const text = is === undefined ? "none" : JSON.stringify(is);
  return [found("defaultChanged", `has default ${text}, had ${JSON.stringify(was)}`)];
}
