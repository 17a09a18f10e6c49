/**
 * The properties of an object, however its schema puts them together.
 *
 * @module
 */
import { isJsonSchema, type JsonSchema } from "./json_schema.ts";
import type { SchemaComponents } from "./schema_components.ts";

/** What a schema says of the properties of an object. */
export interface Properties {
  /** The schemas of the properties it names. */
  readonly of: ReadonlyMap<string, JsonSchema>;
  /** The names of those that have to be there. */
  readonly required: ReadonlySet<string>;
  /** The schema of all others, where there may be others. */
  readonly rest?: JsonSchema;
}

/** Gives the properties of a schema: all of those of `allOf`, and any of those of `anyOf` and `oneOf`. */
export function propertiesOf(schema: JsonSchema, schemas: SchemaComponents): Properties {
  const { properties, required, additionalProperties, allOf, anyOf, oneOf } = schemas.resolve(
    schema,
  );
  const own = isJsonSchema(properties)
    ? Object.entries(properties).filter((entry): entry is [string, JsonSchema] =>
      isJsonSchema(entry[1])
    )
    : [];
  const all = listOf(allOf).map((part) => propertiesOf(part, schemas));
  const any = [anyOf, oneOf].map((parts) =>
    listOf(parts).map((part) => propertiesOf(part, schemas))
  );
  const parts = [...all, ...any.flat()];
  const rest = isJsonSchema(additionalProperties)
    ? additionalProperties
    : parts.find(({ rest }) => rest)?.rest;
  return {
    of: new Map([...parts.flatMap(({ of }) => [...of]), ...own]),
    required: new Set([
      ...Array.isArray(required) ? required.map(String) : [],
      ...all.flatMap(({ required }) => [...required]),
      ...any.flatMap(inEach),
    ]),
    ...rest && { rest },
  };
}

/** Gives the names that each of several alternatives requires. */
function inEach(alternatives: readonly Properties[]): readonly string[] {
  const [first, ...others] = alternatives;
  return [...first?.required ?? []].filter((name) =>
    others.every(({ required }) => required.has(name))
  );
}

function listOf(parts: unknown): readonly JsonSchema[] {
  return Array.isArray(parts) ? parts.filter(isJsonSchema) : [];
}
