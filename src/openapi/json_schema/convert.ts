/**
 * Converting the schemas of any library to JSON Schema.
 *
 * @module
 */
import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import type { AnySchema } from "../../core/schema/validation.ts";
import type { Convert, Converted, ConvertedJson, Direction, SchemaUse } from "./converted.ts";
import { readThrough } from "./references.ts";
import { convertStandard } from "./standard.ts";

/**
 * Prepares to convert the schemas that are used in each direction: those of valibot by
 * `@valibot/to-json-schema`, which is loaded only if there are any, those of other libraries by Standard
 * JSON Schema.
 */
export async function createConvert(uses: readonly SchemaUse[]): Promise<Convert> {
  const ofValibot = uses.filter(({ schema }) => isValibot(schema));
  const convertValibot = ofValibot.length > 0
    ? (await import("./valibot.ts")).valibotConvert(ofValibot)
    : undefined;
  const convert = (schema: AnySchema, direction: Direction): ConvertedJson | undefined => {
    if (isValibot(schema)) return convertValibot?.(schema, direction);
    return offersJsonSchema(schema) ? convertStandard(schema, direction) : undefined;
  };
  return remembering((schema, direction) => {
    const converted = convert(schema, direction);
    return converted && readThrough(converted);
  });
}

/** Tells a schema of valibot from what its `toStandardJsonSchema()` gives. */
function isValibot(schema: AnySchema): boolean {
  return schema["~standard"].vendor === "valibot" && "kind" in schema;
}

function offersJsonSchema(schema: AnySchema): schema is AnySchema & StandardJSONSchemaV1 {
  return "jsonSchema" in schema["~standard"];
}

function remembering(convert: Convert): Convert {
  const known = { input: new Map<AnySchema, Converted | undefined>(), output: new Map() };
  return (schema, direction) => {
    const converted = known[direction];
    if (!converted.has(schema)) converted.set(schema, convert(schema, direction));
    return converted.get(schema);
  };
}
