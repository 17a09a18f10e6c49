/**
 * Schemas of valibot (https://valibot.dev).
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { mergedProperties, type SchemaLibrary, type SchemaProperties } from "./schema_library.ts";

/** The members of a schema of valibot that are used here. */
export interface ValibotSchema extends StandardSchemaV1 {
  readonly type: string;
  readonly entries?: Readonly<Record<string, StandardSchemaV1>>;
  readonly wrapped?: ValibotSchema;
  readonly options?: readonly ValibotSchema[];
  readonly pipe?: readonly { readonly kind: string }[];
}

/** The types of the schemas of objects. */
const OBJECTS = [
  "loose_object",
  "object",
  "object_with_rest",
  "record",
  "strict_object",
  "variant",
];

/** The types of the schemas whose options are schemas; those of a picklist are values. */
const COMPOSED = ["intersect", "union", "variant"];

/** Objects drop undeclared keys unless they are loose, and accept arrays. */
export const VALIBOT: SchemaLibrary<ValibotSchema> = {
  owns: isValibot,
  acceptsArrayAsObject,
  stripping: (schema) => schema,
  propertiesOf,
  transforms: ({ pipe = [] }) =>
    pipe.slice(1).some(({ kind }) => kind !== "validation" && kind !== "metadata"),
  expectsList: ({ expected }) => /\bArray\b/.test(String(expected)),
  quotation: / but received .*$|: Received .*$/s,
};

/** Checks whether a schema is of valibot; the result of its `toStandardJsonSchema()` is not. */
export function isValibot(schema: StandardSchemaV1): schema is ValibotSchema {
  return schema["~standard"].vendor === "valibot" && "kind" in schema;
}

function acceptsArrayAsObject({ type, wrapped, options = [] }: ValibotSchema): boolean {
  if (OBJECTS.includes(type) || wrapped && acceptsArrayAsObject(wrapped)) return true;
  return type === "union" && options.length > 0 && options.every(acceptsArrayAsObject) ||
    type === "intersect" && options.some(acceptsArrayAsObject);
}

function propertiesOf(
  { type, entries, wrapped, options = [] }: ValibotSchema,
): SchemaProperties | undefined {
  if (entries) return new Map(Object.entries(entries));
  if (wrapped) return propertiesOf(wrapped);
  return COMPOSED.includes(type) ? mergedProperties(options.map(propertiesOf)) : undefined;
}
