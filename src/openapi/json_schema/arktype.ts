/**
 * Converting schemas of arktype to JSON Schema, by their `toJsonSchema`.
 *
 * @module
 */
import type { AnySchema } from "../../core/schema/validation.ts";
import type { Direction, SchemaUse, StandardConversion } from "./converted.ts";
import {
  DATE_TIME,
  isJsonSchema,
  isPatternWith,
  type JsonSchema,
  mapSubschemas,
  UNKNOWN,
} from "./json_schema.ts";

/** The members of a type of arktype that are used here. */
interface ArkType {
  /** Its definition. */
  readonly json: unknown;
  /** Returns the type as JSON Schema, with its defaults. */
  toJsonSchema(options: object): JsonSchema;
  /** Returns the parts of a kind. */
  select(kind: { readonly kind: "pattern" }): readonly {
    readonly rule: string;
    readonly flags?: string;
  }[];
  select(kind: { readonly kind: "morph" }): readonly {
    readonly declaredOut?: object;
    readonly lastMorphIfNode?: object;
  }[];
}

/** The conversion of schemas of arktype. */
export const ARKTYPE_CONVERSION: StandardConversion = { options: optionsOf, corrected };

/** Returns options that describe a type without a counterpart as "any", except dates. */
function optionsOf(direction: Direction): Readonly<Record<string, unknown>> {
  const date = ({ base }: { readonly base: JsonSchema }) =>
    direction === "output" ? { ...base, ...DATE_TIME } : { ...base, [UNKNOWN]: "date" };
  const unknown = ({ base, code }: { readonly base: JsonSchema; readonly code: string }) => ({
    ...base,
    [UNKNOWN]: code,
  });
  return {
    fallback: {
      domain: unknown,
      morph: unknown,
      date,
      proto: (context: { readonly base: JsonSchema; readonly proto: unknown }) =>
        context.proto === Date ? date(context) : { ...context.base, [UNKNOWN]: "proto" },
    },
  };
}

/**
 * Adds defaults, and drops patterns of regular expressions with flags that change their meaning.
 */
function corrected(converted: JsonSchema, { schema: type, direction }: SchemaUse): JsonSchema {
  if (!isArkType(type)) return converted;
  const { $defs, ...json } = converted;
  const flagged = type.select({ kind: "pattern" }).filter(({ flags = "" }) =>
    !isPatternWith(flags)
  );
  const dropped = new Set(flagged.map(({ rule }) => rule));
  const fallback = { default: ({ base }: { readonly base: JsonSchema }) => base };
  const [whole, again] = [1, 2].map(() => type.toJsonSchema({ target: "draft-2020-12", fallback }));
  const isSame = JSON.stringify(whole) === JSON.stringify(again); // a default can be computed
  const rejects = JSON.stringify(type.json).includes('"undeclared":"reject"');
  const adapted = (part: JsonSchema) => {
    const open = rejects ? part : opened(part);
    return dropped.size > 0 ? withoutPatterns(open, dropped) : open;
  };
  const definitions = isJsonSchema($defs) ? Object.entries($defs) : [];
  return {
    ...isSame ? withDefaults(adapted(json), whole) : adapted(json),
    ...direction === "output" && hasOwnMorph(type) && { [UNKNOWN]: "morph" },
    ...definitions.length > 0 && {
      $defs: Object.fromEntries(
        definitions.map(([key, part]) => [key, isJsonSchema(part) ? adapted(part) : part]),
      ),
    },
  };
}

function isArkType(schema: AnySchema): schema is AnySchema & ArkType {
  return "toJsonSchema" in schema;
}

/** Checks whether a part ends in a function of the application, whose output is unknown. */
function hasOwnMorph(type: ArkType): boolean {
  return type.select({ kind: "morph" }).some(({ declaredOut, lastMorphIfNode }) =>
    !declaredOut && !lastMorphIfNode
  );
}

/**
 * Removes `additionalProperties: false` from objects, whose undeclared keys are
 * deleted, not refused.
 */
function opened(schema: JsonSchema): JsonSchema {
  const { additionalProperties, ...rest } = mapSubschemas(schema, opened);
  return additionalProperties === false || additionalProperties === undefined
    ? rest
    : { ...rest, additionalProperties };
}

function withoutPatterns(schema: JsonSchema, dropped: ReadonlySet<string>): JsonSchema {
  const { pattern, ...rest } = mapSubschemas(schema, (each) => withoutPatterns(each, dropped));
  return pattern === undefined || dropped.has(String(pattern)) ? rest : { pattern, ...rest };
}

/** Adds the defaults of another conversion of the same schema. */
function withDefaults(schema: JsonSchema, whole: unknown): JsonSchema {
  if (!isJsonSchema(whole)) return schema;
  const completed = "default" in whole ? { ...schema, default: whole.default } : schema;
  const { properties } = completed;
  if (!isJsonSchema(properties) || !isJsonSchema(whole.properties)) return completed;
  const ofWhole = whole.properties;
  const all = Object.entries(properties).map(([name, property]) => [
    name,
    isJsonSchema(property) ? withDefaults(property, ofWhole[name]) : property,
  ]);
  return { ...completed, properties: Object.fromEntries(all) };
}
