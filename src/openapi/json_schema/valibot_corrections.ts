/**
 * What `@valibot/to-json-schema` does not describe, or describes unlike the JSON that a schema of
 * valibot takes or gives.
 *
 * @module
 */
import type {
  JsonSchema as ValibotJsonSchema,
  OverrideActionContext,
  OverrideSchemaContext,
} from "@valibot/to-json-schema";
import type { Direction } from "./converted.ts";
import { DATE_TIME, FILE, isPatternWith, type JsonSchema, UNKNOWN } from "./json_schema.ts";

/** A schema of valibot. */
export type ValibotSchema = OverrideSchemaContext["valibotSchema"];

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

/** The keywords that `v.metadata()` sets as `.meta()` of zod does. */
const METADATA = ["format", "minimum", "maximum"] as const;

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

/** Describes schemas that the library cannot describe, or describes unlike their JSON. */
export function correctedSchema(
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
export interface Present {
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
export function presentOf(schema: object): Present | undefined {
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

/** Describes actions that the library cannot describe, or describes unlike their JSON. */
export function correctedAction(
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
  if (valibotAction.type === "metadata" && "metadata" in valibotAction) {
    const given = valibotAction.metadata as ValibotJsonSchema;
    const known = METADATA.filter((keyword) => given[keyword] !== undefined);
    return {
      ...jsonSchema,
      ...Object.fromEntries(known.map((keyword) => [keyword, given[keyword]])),
    };
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
