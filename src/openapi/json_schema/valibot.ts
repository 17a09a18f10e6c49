/**
 * Converting schemas of valibot by `@valibot/to-json-schema`.
 *
 * @module
 */
import { type ConversionConfig, toJsonSchemaDefs } from "@valibot/to-json-schema";
import { dtoName } from "../../core/schema/dto.ts";
import type { AnySchema } from "../../core/schema/validation.ts";
import type { ConvertedJson, Direction, ReferenceTarget, SchemaUse } from "./converted.ts";
import type { JsonSchema } from "./json_schema.ts";
import {
  correctedAction,
  correctedSchema,
  presentOf,
  type ValibotSchema,
} from "./valibot_corrections.ts";

type Definitions = Readonly<Record<string, JsonSchema>>;
type ValibotParts = Readonly<Record<string, unknown>>;

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

/**
 * Finds the schemas inside a schema that need a definition: those with a name, and
 * those that {@linkcode presentOf} finds.
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
