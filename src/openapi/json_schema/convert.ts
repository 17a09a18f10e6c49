/**
 * Converting the schemas of any library to JSON Schema.
 *
 * @module
 */
import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import { dtoName } from "../../core/schema/dto.ts";
import { isValibot } from "../../core/schema/libraries/valibot.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import { ARKTYPE_CONVERSION } from "./arktype.ts";
import type {
  Convert,
  Converted,
  ConvertedJson,
  Direction,
  ReferenceTarget,
  SchemaUse,
  StandardConversion,
} from "./converted.ts";
import { isJsonSchema } from "./json_schema.ts";
import { readThrough } from "./references.ts";
import { ZOD_CONVERSION } from "./zod.ts";

/** The conversions of libraries that implement Standard JSON Schema, by vendor. */
const STANDARD: ReadonlyMap<string, StandardConversion> = new Map([
  ["arktype", ARKTYPE_CONVERSION],
  ["zod", ZOD_CONVERSION],
]);

/**
 * Prepares the conversion of the schemas that are used in each direction: those of valibot by
 * `@valibot/to-json-schema`, which is loaded only if there are any, those of other libraries by
 * Standard JSON Schema (https://standardschema.dev/json-schema).
 */
export async function createConvert(uses: readonly SchemaUse[]): Promise<Convert> {
  const ofValibot = uses.filter(({ schema }) => isValibot(schema));
  const convertValibot = ofValibot.length > 0
    ? (await import("./valibot.ts")).valibotConvert(ofValibot)
    : undefined;
  return remembering((schema, direction) => {
    const converted = isValibot(schema)
      ? convertValibot?.(schema, direction)
      : offersJsonSchema(schema)
      ? convertStandard(schema, direction)
      : undefined;
    return converted && readThrough(converted);
  });
}

function offersJsonSchema(schema: AnySchema): schema is StandardSchema {
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

type StandardSchema = AnySchema & StandardJSONSchemaV1;

/** Converts a schema by Standard JSON Schema; returns `undefined` if its library cannot. */
function convertStandard(schema: StandardSchema, direction: Direction): ConvertedJson | undefined {
  const { vendor, jsonSchema } = schema["~standard"];
  const library = STANDARD.get(vendor);
  const named = new Map<string, AnySchema>();
  let converted: unknown;
  try {
    const libraryOptions = library?.options(direction, named);
    converted = jsonSchema[direction]({ target: "draft-2020-12", libraryOptions });
    if (!isJsonSchema(converted)) return undefined;
    converted = library?.corrected?.(converted, { schema, direction }) ?? converted;
  } catch {
    return undefined; // the library throws where a schema has no counterpart
  }
  if (!isJsonSchema(converted)) return undefined;
  const { $defs, ...root } = converted;
  const definitions: readonly (readonly [string, unknown])[] = Object.entries($defs ?? {});
  // a root with a name to which another part refers can be a definition itself
  const own = definitions.find(([key]) => root.$ref === refTo(key) && named.get(key) === schema);
  const json = own && isJsonSchema(own[1]) ? own[1] : root;
  const references = new Map<string, ReferenceTarget>();
  for (const [key, definition] of definitions) {
    const target = named.get(key);
    if (target) references.set(refTo(key), { name: key, schema: target });
    else if (isJsonSchema(definition)) references.set(refTo(key), { json: definition });
  }
  const whole = references.get(String(json.$ref)); // the root itself, where it is only a reference
  const isReference = whole && whole.name === undefined && Object.keys(root).length <= 2;
  const name = own?.[0] ?? dtoName(schema);
  const described = isReference ? whole.json : json;
  references.set("#", name === undefined ? { json: described } : { name, schema });
  return { name, json: described, references };
}

function refTo(key: string): string {
  return `#/$defs/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
