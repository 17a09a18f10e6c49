/**
 * Schemas of zod (https://zod.dev), version 4 and its `mini`.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { mergedProperties, type SchemaLibrary, type SchemaProperties } from "./schema_library.ts";

/** The members of a schema of zod that are used here. */
interface ZodSchema extends StandardSchemaV1 {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly shape?: Readonly<Record<string, StandardSchemaV1>>;
      readonly innerType?: ZodSchema;
      readonly in?: ZodSchema;
      readonly options?: readonly ZodSchema[];
      readonly left?: ZodSchema;
      readonly right?: ZodSchema;
    };
  };
}

/** Objects drop undeclared keys unless they are loose, and refuse arrays. */
export const ZOD: SchemaLibrary<ZodSchema> = {
  owns: (schema): schema is ZodSchema => schema["~standard"].vendor === "zod" && "_zod" in schema,
  acceptsArrayAsObject: () => false,
  stripping: (schema) => schema,
  propertiesOf,
  transforms: ({ _zod: { def } }) => def.type === "pipe",
  expectsList: ({ expected }) => expected === "array" || expected === "tuple",
  quotation: /, received \w+$/,
};

function propertiesOf({ _zod: { def } }: ZodSchema): SchemaProperties | undefined {
  const inner = def.innerType ?? def.in;
  if (def.shape) return new Map(Object.entries(def.shape));
  if (inner) return propertiesOf(inner);
  const parts = def.left && def.right ? [def.left, def.right] : def.options;
  return parts && mergedProperties(parts.map(propertiesOf));
}
