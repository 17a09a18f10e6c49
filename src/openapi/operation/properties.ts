/**
 * The properties of an object schema, through its compositions.
 *
 * @module
 */
import { isJsonSchema, type JsonSchema } from "../json_schema/json_schema.ts";
import type { SchemaComponents } from "../json_schema/schema_components.ts";

/** The properties of an object schema. */
export interface Properties {
  /** The schemas of the named properties. */
  readonly of: ReadonlyMap<string, JsonSchema>;
  /** The names of the required properties. */
  readonly required: ReadonlySet<string>;
  /** The schema of all other properties, if others are allowed. */
  readonly rest?: JsonSchema;
}

/**
 * Returns the properties of a schema: all of `allOf`, and the alternatives of `anyOf` and `oneOf`.
 */
export function propertiesOf(schema: JsonSchema, schemas: SchemaComponents): Properties {
  const { properties, required, additionalProperties, allOf, anyOf, oneOf } = schemas.resolve(
    schema,
  );
  const own: Properties = {
    of: new Map(isJsonSchema(properties) ? Object.entries(properties).filter(isOfSchema) : []),
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    ...isJsonSchema(additionalProperties) && { rest: additionalProperties },
  };
  const partsOf = (list: unknown) => listOf(list).map((part) => propertiesOf(part, schemas));
  const alternatives = [anyOf, oneOf].map(partsOf).filter(({ length }) => length > 0).map(
    anyOfParts,
  );
  return allOfParts([own, ...partsOf(allOf), ...alternatives]);
}

function allOfParts(parts: readonly Properties[]): Properties {
  return {
    of: merged(parts, (schemas) => ({ allOf: schemas })),
    required: new Set(parts.flatMap(({ required }) => [...required])),
    ...restOf(parts),
  };
}

function anyOfParts(alternatives: readonly Properties[]): Properties {
  return {
    of: merged(alternatives, (schemas) => oneOfValues(schemas) ?? { anyOf: schemas }),
    required: new Set(inEach(alternatives)),
    ...restOf(alternatives),
  };
}

/** Returns the schemas of all properties; different schemas of one property are combined. */
function merged(
  parts: readonly Properties[],
  together: (schemas: readonly JsonSchema[]) => JsonSchema,
): ReadonlyMap<string, JsonSchema> {
  const all = new Map<string, JsonSchema[]>();
  for (const [name, schema] of parts.flatMap(({ of }) => [...of])) {
    const different = all.get(name) ?? [];
    const isKnown = different.some((other) => JSON.stringify(other) === JSON.stringify(schema));
    if (!isKnown) all.set(name, [...different, schema]);
  }
  return new Map(
    [...all].map(([name, [first = {}, ...others]]) => [
      name,
      others.length > 0 ? together([first, ...others]) : first,
    ]),
  );
}

/** Combines alternatives of one value each to a list of values. */
function oneOfValues(schemas: readonly JsonSchema[]): JsonSchema | undefined {
  const values = schemas.map((schema) =>
    Object.keys(schema).length === 1 ? schema.const : undefined
  );
  return values.includes(undefined) ? undefined : { enum: values };
}

function restOf(parts: readonly Properties[]): Pick<Properties, "rest"> {
  const rest = parts.find(({ rest }) => rest)?.rest;
  return rest ? { rest } : {};
}

function isOfSchema(entry: [string, unknown]): entry is [string, JsonSchema] {
  return isJsonSchema(entry[1]);
}

/** Returns the names that all alternatives require. */
function inEach(alternatives: readonly Properties[]): readonly string[] {
  const [first, ...others] = alternatives;
  return [...first?.required ?? []].filter((name) =>
    others.every(({ required }) => required.has(name))
  );
}

function listOf(parts: unknown): readonly JsonSchema[] {
  return Array.isArray(parts) ? parts.filter(isJsonSchema) : [];
}
