/**
 * Converting schemas of zod to JSON Schema, by its `toJSONSchema`.
 *
 * @module
 */
import { dtoName, isComponentName } from "../../core/schema/dto.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import type { Direction, StandardConversion } from "./converted.ts";
import { DATE_TIME, FILE, isJsonSchema, isPatternWith, UNKNOWN } from "./json_schema.ts";

/** The argument of the callback that zod calls for each schema inside a schema. */
interface ZodNode {
  readonly zodSchema: { readonly _zod: { readonly def: ZodDefinition } };
  readonly jsonSchema: Record<string, unknown>;
}

/** The members of the definition of a schema or check that are used here. */
interface ZodDefinition {
  readonly type?: string;
  readonly catchall?: unknown;
  readonly defaultValue?: unknown;
  readonly pattern?: RegExp;
  readonly shape?: Readonly<Record<string, { readonly _zod: { readonly def: ZodDefinition } }>>;
  readonly checks?: readonly { readonly _zod: { readonly def: ZodDefinition } }[];
}

/** The conversion of schemas of zod. */
export const ZOD_CONVERSION: StandardConversion = { options: optionsOf };

/**
 * Returns options with which zod writes one definition for each schema with a name, by `dto()` or
 * `.meta({ id })`; such schemas are added to `named`.
 */
function optionsOf(
  direction: Direction,
  named: Map<string, AnySchema>,
): Readonly<Record<string, unknown>> {
  return {
    unrepresentable: "any",
    metadata: {
      get(schema: AnySchema & { meta?: () => Readonly<Record<string, unknown>> | undefined }) {
        const metadata = schema.meta?.();
        const id = dtoName(schema) ?? metadata?.id;
        if (typeof id !== "string") return metadata;
        if (!isComponentName(id)) return { ...metadata, id: undefined };
        named.set(id, schema);
        return { ...metadata, id };
      },
    },
    override({ zodSchema: { _zod: { def } }, jsonSchema }: ZodNode) {
      dropPatterns(jsonSchema, def);
      if (def.type === "readonly") delete jsonSchema.readOnly; // requests could not contain it
      if (def.type === "file") asFile(jsonSchema);
      if (isUnrepresentable(def, jsonSchema)) jsonSchema[UNKNOWN] = def.type;
      if (isComputed(def)) delete jsonSchema.default;
      if (direction === "input") return;
      if (def.type === "object") dropUndefined(jsonSchema, def);
      if (def.type === "date") becomeDateTime(jsonSchema);
      // undeclared keys may be sent in the future: only a strict object excludes them
      if (def.type === "object" && !def.catchall) delete jsonSchema.additionalProperties;
    },
  };
}

/** Checks whether a default differs each time. */
function isComputed(definition: ZodDefinition): boolean {
  return "defaultValue" in definition &&
    JSON.stringify(definition.defaultValue) !== JSON.stringify(definition.defaultValue);
}

/**
 * Removes properties that can be `undefined`, which JSON cannot represent, from the required ones.
 */
function dropUndefined(jsonSchema: Record<string, unknown>, { shape = {} }: ZodDefinition): void {
  if (!Array.isArray(jsonSchema.required)) return;
  const mayBeMissing = ["undefined", "void"];
  jsonSchema.required = jsonSchema.required.filter((key) =>
    !mayBeMissing.includes(shape[key]?._zod.def.type ?? "")
  );
}

/** The types of schemas that JSON Schema cannot represent. */
const UNREPRESENTABLE = new Set([
  ...[
    "bigint",
    "custom",
    "date",
    "function",
    "map",
    "nan",
    "promise",
    "set",
    "symbol",
    "transform",
  ],
  ...["undefined", "void"],
]);

/** The keywords that an application can add to any schema. */
const OF_APPLICATIONS = new Set([
  ...["default", "deprecated", "description", "example", "examples", "id", "title"],
]);

function isUnrepresentable({ type = "" }: ZodDefinition, jsonSchema: object): boolean {
  return UNREPRESENTABLE.has(type) &&
    Object.keys(jsonSchema).every((key) => OF_APPLICATIONS.has(key));
}

function becomeDateTime(jsonSchema: Record<string, unknown>): void {
  delete jsonSchema[UNKNOWN];
  Object.assign(jsonSchema, DATE_TIME);
}

function asFile(jsonSchema: Record<string, unknown>): void {
  delete jsonSchema.contentEncoding; // a file is sent as it is
  Object.assign(jsonSchema, { ...FILE, ...jsonSchema });
}

/** Drops patterns of regular expressions with flags that change their meaning. */
function dropPatterns(jsonSchema: Record<string, unknown>, definition: ZodDefinition): void {
  const definitions = [definition, ...definition.checks?.map(({ _zod }) => _zod.def) ?? []];
  const dropped = definitions.flatMap(({ pattern }) =>
    pattern && !isPatternWith(pattern.flags) ? [pattern.source] : []
  );
  if (dropped.length === 0) return;
  const isDropped = (pattern: unknown) => dropped.includes(String(pattern));
  if (isDropped(jsonSchema.pattern)) delete jsonSchema.pattern;
  if (!Array.isArray(jsonSchema.allOf)) return;
  jsonSchema.allOf = jsonSchema.allOf.filter((part) =>
    !isJsonSchema(part) || !isDropped(part.pattern)
  );
}
