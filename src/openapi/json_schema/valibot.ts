/**
 * Converting schemas of valibot by `@valibot/to-json-schema`.
 *
 * @module
 */
import {
  type ConversionConfig,
  type JsonSchema as ValibotJsonSchema,
  type OverrideActionContext,
  type OverrideSchemaContext,
  toJsonSchemaDefs,
} from "@valibot/to-json-schema";
import { dtoName } from "../../core/schema/dto.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import type { ConvertedJson, Direction, ReferenceTarget, SchemaUse } from "./converted.ts";
import { DATE_TIME, FILE, isPatternWith, type JsonSchema, UNKNOWN } from "./json_schema.ts";

type ValibotSchema = OverrideSchemaContext["valibotSchema"];
type Definitions = Readonly<Record<string, JsonSchema>>;
type ValibotParts = Readonly<Record<string, unknown>>;

/** The output of a conversion of the application. */
const UNKNOWN_TRANSFORM: JsonSchema = { [UNKNOWN]: "transform" };

/** The outputs of conversions, whatever their input. */
const RESULTS: Readonly<Record<string, JsonSchema>> = {
  find_item: UNKNOWN_TRANSFORM,
  parse_json: UNKNOWN_TRANSFORM,
  raw_transform: UNKNOWN_TRANSFORM,
  reduce_items: UNKNOWN_TRANSFORM,
  stringify_json: { type: "string" },
  to_bigint: UNKNOWN_TRANSFORM,
  to_boolean: { type: "boolean" },
  to_date: DATE_TIME,
  to_number: { type: "number" },
  to_string: { type: "string" },
};

type LengthKeyword = "minLength" | "maxLength";

/** The actions that limit the code points of a text, which JSON Schema calls its length. */
const CODE_POINTS: Readonly<Record<string, readonly LengthKeyword[]>> = {
  code_points: ["minLength", "maxLength"],
  max_code_points: ["maxLength"],
  min_code_points: ["minLength"],
};

/**
 * The actions that check times in other forms than RFC 3339, which the formats of JSON Schema mean.
 */
const TIMES = ["iso_date_time", "iso_time"];

/** The outputs of `v.transform(Number)` and similar. */
const TRANSFORMS: ReadonlyMap<unknown, JsonSchema> = new Map<unknown, JsonSchema>([
  [Number, { type: "number" }],
  [String, { type: "string" }],
  [Boolean, { type: "boolean" }],
]);

/**
 * Converts schemas and the schemas with names inside them, all at once, so that common parts are
 * converted once.
 */
export function valibotConvert(
  uses: readonly SchemaUse[],
): (schema: AnySchema, direction: Direction) => ConvertedJson | undefined {
  const inDirection = (direction: Direction) =>
    convertAll(
      uses.filter((use) => use.direction === direction).map((use) => use.schema),
      direction,
    );
  const known = { input: inDirection("input"), output: inDirection("output") };
  // a schema that is used in the other direction only is not known
  return (schema, direction) => known[direction](schema) ?? convertAll([schema], direction)(schema);
}

/** Converts schemas; those that cannot be converted are left out. */
function convertAll(
  roots: readonly AnySchema[],
  direction: Direction,
): (schema: AnySchema) => ConvertedJson | undefined {
  const schemas = new Set(roots);
  const seen = new Set<unknown>();
  for (const schema of roots) {
    try {
      findReferred(schema as object as ValibotParts, { seen, found: schemas });
    } catch {
      // a getter that needs an input, or is endless: the schema cannot be converted either
    }
  }
  const keys = new Map<AnySchema, string>([...schemas].map((schema, i) => [schema, `schema${i}`]));
  // all of them are schemas of valibot
  const byKey = new Map([...keys].map(([schema, key]) => [key, schema as ValibotSchema]));
  const definitions = definitionsOf(byKey, direction);
  const references = referencesOf(definitions, byKey);
  return (schema) => {
    const json = definitions[keys.get(schema) ?? ""];
    return json && { name: dtoName(schema), json, references };
  };
}

/** Converts all at once, or without those that throw, as a computed default can. */
function definitionsOf(
  byKey: ReadonlyMap<string, ValibotSchema>,
  direction: Direction,
): Definitions {
  try {
    return toDefinitions(byKey, direction);
  } catch {
    const valid = [...byKey].filter((entry) => {
      try {
        return toDefinitions(new Map([entry]), direction);
      } catch {
        return false;
      }
    });
    return toDefinitions(new Map(valid), direction);
  }
}

function toDefinitions(
  byKey: ReadonlyMap<string, ValibotSchema>,
  typeMode: Direction,
): Definitions {
  const config: ConversionConfig = {
    target: "draft-2020-12",
    typeMode,
    errorMode: "ignore",
    overrideSchema: (context) => correctedSchema(context, typeMode),
    overrideAction: (context) => correctedAction(context, typeMode),
  };
  // their type of JSON Schema has typed keywords, ours has not
  return toJsonSchemaDefs(Object.fromEntries(byKey), config) as Definitions;
}

function referencesOf(
  definitions: Definitions,
  byKey: ReadonlyMap<string, ValibotSchema>,
): ReadonlyMap<string, ReferenceTarget> {
  return new Map(
    Object.entries(definitions).map(([key, json]) => {
      const schema = byKey.get(key);
      const name = schema && dtoName(schema);
      return [`#/$defs/${key}`, schema && name !== undefined ? { name, schema } : { json }];
    }),
  );
}

/** Describes schemas that the library cannot describe, or describes unlike their JSON. */
function correctedSchema(
  { valibotSchema, jsonSchema, errors, referenceMap }: OverrideSchemaContext,
  direction: Direction,
): ValibotJsonSchema | undefined {
  const { type } = valibotSchema;
  if (type === "date" && direction === "output") return DATE_TIME;
  if (type === "file" || type === "blob") return FILE;
  const present = presentOf(valibotSchema);
  if (present) {
    const { schema, isNullExcluded } = present;
    const $ref = `#/$defs/${referenceMap.get(schema)}`;
    return isNullExcluded ? { allOf: [{ $ref }], not: { type: "null" } } : { $ref };
  }
  if (type === "record") return jsonSchema; // the error is that its keys are not plain strings
  if (errors) return { [UNKNOWN]: type ?? "lazy" } as ValibotJsonSchema; // an internal keyword
  if ("default" in valibotSchema && typeof valibotSchema.default === "function") {
    const { default: _computed, ...rest } = jsonSchema; // it can differ each time
    return rest;
  }
  if ("entries" in valibotSchema && direction === "output") {
    const entries = valibotSchema.entries as Readonly<Record<string, object>>;
    const required = Object.keys(entries).filter((key) => isPresent(entries[key]));
    return { ...jsonSchema, required, ...type === "loose_object" && { additionalProperties: {} } };
  }
  if (type === "loose_object") return { ...jsonSchema, additionalProperties: {} };
  return undefined;
}

/** The types of schemas whose output can be `undefined`, which JSON cannot represent. */
const MAY_BE_MISSING = [
  "exact_optional",
  "nullish",
  "optional",
  "undefined",
  "undefinedable",
  "void",
];

/** Checks whether the output of an entry is always present. */
function isPresent(entry: object | undefined): boolean {
  const { type = "", default: value, options } = entry as {
    readonly type?: string;
    readonly default?: unknown;
    readonly options?: readonly object[];
  };
  if (value !== undefined) return true;
  return type === "union" ? options?.every(isPresent) === true : !MAY_BE_MISSING.includes(type);
}

/** The schema that remains of one that `v.nonNullish()` or similar wraps. */
interface Present {
  /** The wrapped schema, or the one inside it if it only allows missing values. */
  readonly schema: ValibotSchema;
  /** Whether `null` must be excluded. */
  readonly isNullExcluded: boolean;
}

/** The types of schemas that only allow missing values, by the type that excludes them. */
const MISSING: Readonly<Record<string, readonly string[]>> = {
  non_nullable: ["nullable"],
  non_nullish: ["exact_optional", "nullable", "nullish", "optional", "undefinedable"],
  non_optional: ["exact_optional", "optional", "undefinedable"],
};

/** Returns what remains of a schema that `v.nonOptional()` or similar wraps. */
function presentOf(schema: object): Present | undefined {
  const { type = "", wrapped } = schema as {
    readonly type?: string;
    readonly wrapped?: ValibotSchema;
  };
  const missing = MISSING[type];
  if (!missing || !wrapped) return undefined;
  let inner: ValibotSchema & { readonly wrapped?: ValibotSchema } = wrapped;
  while (missing.includes(inner.type) && inner.wrapped && !("pipe" in inner)) inner = inner.wrapped;
  return { schema: inner, isNullExcluded: inner === wrapped && type !== "non_optional" };
}

function correctedAction(
  { valibotAction, jsonSchema }: OverrideActionContext,
  direction: Direction,
): ValibotJsonSchema | undefined {
  if (valibotAction.type === "regex" && "requirement" in valibotAction) {
    const { source, flags } = valibotAction.requirement as RegExp;
    if (isPatternWith(flags) || jsonSchema.pattern !== source) return undefined;
    const { pattern: _otherwise, ...rest } = jsonSchema; // without "i", it would refuse valid texts
    return rest;
  }
  if (TIMES.includes(valibotAction.type) && "requirement" in valibotAction) {
    const { format: _other, ...rest } = jsonSchema;
    return { pattern: (valibotAction.requirement as RegExp).source, ...rest };
  }
  const limits = CODE_POINTS[valibotAction.type];
  if (limits && "requirement" in valibotAction) {
    return limits.reduce(
      (json, keyword) => withLength(json, { keyword, length: Number(valibotAction.requirement) }),
      jsonSchema,
    );
  }
  if (direction === "input") return undefined;
  if (valibotAction.type === "map_items") {
    const { items: _before, ...rest } = jsonSchema;
    return rest;
  }
  if (valibotAction.type === "transform" && "operation" in valibotAction) {
    return TRANSFORMS.get(valibotAction.operation) ?? UNKNOWN_TRANSFORM;
  }
  return RESULTS[valibotAction.type];
}

/** Limits the length of a text, unless another action limits it more. */
function withLength(
  json: ValibotJsonSchema,
  { keyword, length }: { readonly keyword: LengthKeyword; readonly length: number },
): ValibotJsonSchema {
  const tighter = keyword === "minLength" ? Math.max : Math.min;
  return { ...json, [keyword]: tighter(json[keyword] ?? length, length) };
}

/**
 * Finds the schemas inside a schema that need a definition: those with a name, and
 * {@linkcode Present} ones.
 */
function findReferred(
  schema: ValibotParts,
  search: { readonly seen: Set<unknown>; readonly found: Set<AnySchema> },
): void {
  const { seen, found } = search;
  if (seen.has(schema)) return;
  seen.add(schema);
  if (isNamed(schema)) found.add(schema);
  const present = presentOf(schema);
  if (present) found.add(present.schema as AnySchema);
  if (typeof schema.getter === "function") findReferred(schema.getter(undefined), search);
  for (const key of PARTS) {
    const part = schema[key];
    if (!isObject(part)) continue;
    const within = "~standard" in part ? [part] : Object.values(part);
    for (const each of within) if (isObject(each)) findReferred(each, search);
  }
}

/** The members of schemas of valibot that contain others: one, a list, or several by name. */
const PARTS = ["entries", "item", "items", "key", "options", "pipe", "rest", "value", "wrapped"];

function isNamed(schema: object): schema is AnySchema {
  return "~standard" in schema && dtoName(schema as AnySchema) !== undefined;
}

function isObject(value: unknown): value is ValibotParts {
  return typeof value === "object" && value !== null;
}
