/**
 * Converting schemas by Standard JSON Schema (https://standardschema.dev/json-schema), which zod and
 * arktype implement.
 *
 * @module
 */
import type { StandardJSONSchemaV1 } from "@standard-schema/spec";
import { dtoName } from "../core/dto.ts";
import type { AnySchema } from "../core/validation.ts";
import type { Converted, Direction, ReferenceTarget } from "./converted.ts";
import { DATE_TIME, isJsonSchema, type JsonSchema } from "./json_schema.ts";

type StandardSchema = AnySchema & StandardJSONSchemaV1;

/** What is called for each schema within a schema of zod; see `toJSONSchema` there. */
interface ZodNode {
  readonly zodSchema: { readonly _zod: { readonly def: { type: string; catchall?: unknown } } };
  readonly jsonSchema: Record<string, unknown>;
}

/** Converts a schema; gives `undefined` if its library cannot. */
export function convertStandard(
  schema: StandardSchema,
  direction: Direction,
): Converted | undefined {
  const { vendor, jsonSchema } = schema["~standard"];
  const named = new Map<string, AnySchema>();
  const libraryOptions = vendor === "zod"
    ? optionsOfZod(direction, named)
    : vendor === "arktype"
    ? optionsOfArktype(direction)
    : undefined;
  let converted: JsonSchema;
  try {
    converted = jsonSchema[direction]({ target: "draft-2020-12", libraryOptions });
  } catch {
    return undefined; // it may, where a schema has no counterpart
  }
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
  references.set("#", { json });
  return { name: own?.[0], json, references };
}

function refTo(key: string): string {
  return `#/$defs/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Makes zod define the schemas with a name, by `dto()` or its own `.meta({ id })`, once. */
function optionsOfZod(direction: Direction, named: Map<string, AnySchema>) {
  return {
    unrepresentable: "any",
    metadata: {
      get(schema: AnySchema & { meta?: () => Readonly<Record<string, unknown>> | undefined }) {
        const metadata = schema.meta?.();
        const id = dtoName(schema) ?? metadata?.id;
        if (typeof id !== "string") return metadata;
        named.set(id, schema);
        return { ...metadata, id };
      },
    },
    override({ zodSchema: { _zod: { def } }, jsonSchema }: ZodNode) {
      if (direction === "input") return;
      if (def.type === "date") Object.assign(jsonSchema, DATE_TIME);
      // what it strips may be sent one day: only a strict object says that there will be no more
      if (def.type === "object" && !def.catchall) delete jsonSchema.additionalProperties;
    },
  };
}

function optionsOfArktype(direction: Direction) {
  const date = ({ base }: { readonly base: JsonSchema }) =>
    direction === "output" ? { ...base, ...DATE_TIME } : base;
  return {
    fallback: {
      date,
      proto: (context: { readonly base: JsonSchema; readonly proto: unknown }) =>
        context.proto === Date ? date(context) : context.base,
    },
  };
}
