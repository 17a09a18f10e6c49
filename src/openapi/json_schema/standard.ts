/**
 * Converting schemas by Standard JSON Schema (https://standardschema.dev/json-schema), which zod and
 * arktype implement.
 *
 * @module
 */
import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import { dtoName } from "../../core/schema/dto.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import { type ArkType, arktypeOptions, corrected } from "./arktype.ts";
import type { ConvertedJson, Direction, ReferenceTarget } from "./converted.ts";
import { isJsonSchema } from "./json_schema.ts";
import { zodOptions } from "./zod.ts";

type StandardSchema = AnySchema & StandardJSONSchemaV1;

/** Converts a schema; gives `undefined` if its library cannot. */
export function convertStandard(
  schema: StandardSchema,
  direction: Direction,
): ConvertedJson | undefined {
  const { vendor, jsonSchema } = schema["~standard"];
  const named = new Map<string, AnySchema>();
  const libraryOptions = vendor === "zod"
    ? zodOptions(direction, named)
    : vendor === "arktype"
    ? arktypeOptions(direction)
    : undefined;
  let converted: unknown;
  try {
    converted = jsonSchema[direction]({ target: "draft-2020-12", libraryOptions });
    if (isArkType(schema) && isJsonSchema(converted)) {
      converted = corrected(converted, schema, direction);
    }
  } catch {
    return undefined; // it may, where a schema has no counterpart
  }
  if (!isJsonSchema(converted)) return undefined;
  const { $defs, ...root } = converted;
  const definitions: readonly (readonly [string, unknown])[] = Object.entries($defs ?? {});
  // a root that has a name, and is referred to, may have become a definition itself
  const own = definitions.find(([key]) => root.$ref === refTo(key) && named.get(key) === schema);
  const json = own && isJsonSchema(own[1]) ? own[1] : root;
  const references = new Map<string, ReferenceTarget>();
  for (const [key, definition] of definitions) {
    const target = named.get(key);
    if (target) references.set(refTo(key), { name: key, schema: target });
    else if (isJsonSchema(definition)) references.set(refTo(key), { json: definition });
  }
  const whole = references.get(String(json.$ref)); // the root itself, where it is but a reference
  const isReference = whole && whole.name === undefined && Object.keys(root).length <= 2;
  const name = own?.[0] ?? dtoName(schema);
  const described = isReference ? whole.json : json;
  references.set("#", name === undefined ? { json: described } : { name, schema });
  return { name, json: described, references };
}

function refTo(key: string): string {
  return `#/$defs/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

function isArkType(schema: StandardSchema): schema is StandardSchema & ArkType {
  return schema["~standard"].vendor === "arktype" && "toJsonSchema" in schema;
}
