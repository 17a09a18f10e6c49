/**
 * Schemas that are `true` or `false` in other words.
 *
 * @module
 */
import { isJsonSchema } from "../../openapi/json_schema/json_schema.ts";

/** Keywords that do not restrict values. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...["$anchor", "$comment", "$defs", "$id", "$schema", "default", "deprecated", "description"],
  ...["discriminator", "example", "examples", "externalDocs", "readOnly", "title", "writeOnly"],
  ...["x-sunset", "xml"],
]);

/** How deep a schema is looked into: it can be inside of itself. */
const MAX_DEPTH = 10;

/**
 * Returns `true` for a schema that allows any value, such as `{}`, and `false` for one that allows
 * none, such as `{ not: {} }`; `undefined` for others. Lists of several alternatives are others.
 */
export function asBoolean(
  schema: unknown,
  resolve: (reference: string) => unknown,
  depth = 0,
): boolean | undefined {
  if (typeof schema === "boolean") return schema;
  if (!isJsonSchema(schema) || depth > MAX_DEPTH) return undefined;
  const read = (each: unknown) => asBoolean(each, resolve, depth + 1);
  const meanings = Object.entries(schema).filter(([keyword]) => !isAnnotation(keyword))
    .map(([keyword, value]) => {
      if (keyword === "$ref") return read(resolve(String(value)));
      if (keyword === "not") return negated(read(value));
      const isSingle = LISTS.has(keyword) && Array.isArray(value) && value.length === 1;
      return isSingle ? read(value[0]) : undefined;
    });
  if (meanings.includes(false)) return false;
  return meanings.includes(undefined) ? undefined : true;
}

/** Keywords whose values are lists of schemas. */
const LISTS = new Set(["allOf", "anyOf", "oneOf"]);

function isAnnotation(keyword: string): boolean {
  return ANNOTATIONS.has(keyword) || keyword.startsWith("x-");
}

function negated(meaning: boolean | undefined): boolean | undefined {
  return meaning === undefined ? undefined : !meaning;
}
