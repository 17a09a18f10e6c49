/**
 * How schemas of arktype are converted; see `toJsonSchema` there.
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

/** As much of a type of arktype as is used here. */
interface ArkType {
  /** What it is made of. */
  readonly json: unknown;
  /** Gives the type as JSON Schema, with its defaults. */
  toJsonSchema(options: object): JsonSchema;
  /** Gives the parts of a kind. */
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

/** Gives options with which what has no counterpart is described as "any", but for dates. */
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

/** Adds defaults, and drops the patterns of regular expressions whose flags a pattern cannot have. */
function corrected(converted: JsonSchema, { schema: type, direction }: SchemaUse): JsonSchema {
  if (!isArkType(type)) return converted;
  const { $defs, ...json } = converted;
  const flagged = type.select({ kind: "pattern" }).filter(({ flags = "" }) =>
    !isPatternWith(flags)
  );
  const dropped = new Set(flagged.map(({ rule }) => rule));
  const fallback = { default: ({ base }: { readonly base: JsonSchema }) => base };
  const [whole, again] = [1, 2].map(() => type.toJsonSchema({ target: "draft-2020-12", fallback }));
  const isSame = JSON.stringify(whole) === JSON.stringify(again); // defaults may be of the moment
  const rejects = JSON.stringify(type.json).includes('"undeclared":"reject"');
  const told = (part: JsonSchema) => {
    const open = rejects ? part : opened(part);
    return dropped.size > 0 ? withoutPatterns(open, dropped) : open;
  };
  const definitions = isJsonSchema($defs) ? Object.entries($defs) : [];
  return {
    ...isSame ? withDefaults(told(json), whole) : told(json),
    ...direction === "output" && hasOwnMorph(type) && { [UNKNOWN]: "morph" },
    ...definitions.length > 0 && {
      $defs: Object.fromEntries(
        definitions.map(([key, part]) => [key, isJsonSchema(part) ? told(part) : part]),
      ),
    },
  };
}

function isArkType(schema: AnySchema): schema is AnySchema & ArkType {
  return "toJsonSchema" in schema;
}

/** Tells whether a part ends in a function of the application's, of which it is not known what it gives. */
function hasOwnMorph(type: ArkType): boolean {
  return type.select({ kind: "morph" }).some(({ declaredOut, lastMorphIfNode }) =>
    !declaredOut && !lastMorphIfNode
  );
}

/** Opens objects whose other keys are deleted, not refused. */
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

/** Adds the defaults that another conversion of the same schema has told. */
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
