/**
 * How schemas of zod are converted; see `toJSONSchema` there.
 *
 * @module
 */
import { dtoName, isComponentName } from "../../core/schema/dto.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import type { Direction, StandardConversion } from "./converted.ts";
import { DATE_TIME, FILE, isJsonSchema, isPatternWith, UNKNOWN } from "./json_schema.ts";

/** What zod calls back with for each schema within a schema. */
interface ZodNode {
  readonly zodSchema: { readonly _zod: { readonly def: ZodDefinition } };
  readonly jsonSchema: Record<string, unknown>;
}

/** As much of the definition of a schema, or of a check, as is used here. */
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
 * Gives options with which zod defines the schemas with a name, by `dto()` or its own `.meta({ id })`, once
 * each; `named` gets them.
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
      if (def.type === "readonly") delete jsonSchema.readOnly; // it would be no part of requests then
      if (def.type === "file") asFile(jsonSchema);
      if (isWordless(def, jsonSchema)) jsonSchema[UNKNOWN] = def.type;
      if (isComputed(def)) delete jsonSchema.default;
      if (direction === "input") return;
      if (def.type === "object") dropUngiven(jsonSchema, def);
      if (def.type === "date") becomeDateTime(jsonSchema);
      // what it strips may be sent one day: only a strict object says that there will be no more
      if (def.type === "object" && !def.catchall) delete jsonSchema.additionalProperties;
    },
  };
}

/** Tells whether a default is another one each time. */
function isComputed(definition: ZodDefinition): boolean {
  return "defaultValue" in definition &&
    JSON.stringify(definition.defaultValue) !== JSON.stringify(definition.defaultValue);
}

/** Does not require what may be `undefined`, for which JSON has no word. */
function dropUngiven(jsonSchema: Record<string, unknown>, { shape = {} }: ZodDefinition): void {
  if (!Array.isArray(jsonSchema.required)) return;
  const mayBeMissing = ["undefined", "void"];
  jsonSchema.required = jsonSchema.required.filter((key) =>
    !mayBeMissing.includes(shape[key]?._zod.def.type ?? "")
  );
}

/** The schemas that JSON Schema has no words for. */
const WORDLESS = new Set([
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

/** What an application may say of any schema. */
const OF_APPLICATIONS = new Set([
  ...["default", "deprecated", "description", "example", "examples", "id", "title"],
]);

function isWordless({ type = "" }: ZodDefinition, jsonSchema: object): boolean {
  return WORDLESS.has(type) && Object.keys(jsonSchema).every((key) => OF_APPLICATIONS.has(key));
}

function becomeDateTime(jsonSchema: Record<string, unknown>): void {
  delete jsonSchema[UNKNOWN];
  Object.assign(jsonSchema, DATE_TIME);
}

function asFile(jsonSchema: Record<string, unknown>): void {
  delete jsonSchema.contentEncoding; // it is sent as it is
  Object.assign(jsonSchema, { ...FILE, ...jsonSchema });
}

/** Drops the patterns of regular expressions whose flags a pattern cannot have. */
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
