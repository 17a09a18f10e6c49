/**
 * Schemas without the keywords that put schemas together.
 *
 * @module
 */
import { isJsonSchema, type JsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { asBoolean } from "../boolean_schema.ts";

/** What resolves the references of schemas. */
export interface SchemaSource {
  /** Resolves a reference. */
  resolve(reference: string): JsonSchema;
  /** Makes something of a schema once, and returns it. */
  cached(schema: unknown, make: () => readonly JsonSchema[]): readonly JsonSchema[];
}

/** Resolves a reference. */
export type Resolve = (reference: string) => JsonSchema;

/**
 * Returns the alternatives of a schema: each a schema with neither `$ref`, `allOf`, `anyOf` nor
 * `oneOf` at its root, and at most one `type`. A value of the schema satisfies one of them; a value
 * of one of them mostly satisfies the schema.
 */
export function alternativesOf(schema: unknown, resolve: Resolve): readonly JsonSchema[] {
  if (asBoolean(schema, resolve) === false) return [];
  if (!isJsonSchema(schema)) return [{}];
  const { $ref, allOf = [], anyOf, oneOf, type, ...rest } = schema;
  const types: readonly JsonSchema[] = type === undefined
    ? [{ ...guessedType(rest) }]
    : [type].flat().map((type) => ({ type }));
  const parts = [
    types,
    ...typeof $ref === "string" ? [alternativesOf(resolve($ref), resolve)] : [],
    ...(allOf as unknown[]).map((part) => alternativesOf(part, resolve)),
    ...[anyOf, oneOf].filter(Array.isArray).map((list) =>
      list.flatMap((part) => alternativesOf(part, resolve))
    ),
  ];
  return parts.reduce<readonly JsonSchema[]>(
    (sofar, part) => sofar.flatMap((one) => part.map((other) => merged(one, other))),
    [rest],
  ).filter((schema) => !isJsonSchema(schema.type));
}

/**
 * Finds a property that no schema names, which JSON Schema accepts, clients do not expect, and may
 * be private. Returns its path, such as `rows[].owner`. An object whose schema names no property,
 * or describes others, may have any.
 */
export function undocumentedProperty(
  value: unknown,
  schema: JsonSchema,
  document: SchemaSource,
): string | undefined {
  const resolve = (reference: string) => document.resolve(reference);
  const find = (value: unknown, schemas: readonly unknown[], path: string): string | undefined => {
    if (typeof value !== "object" || value === null) return undefined;
    const plain = schemas.flatMap((each) =>
      document.cached(each, () => alternativesOf(each, resolve))
    );
    if (Array.isArray(value)) {
      const lists = plain.filter(({ type }) => type === undefined || type === "array");
      return first(value, (item, i) =>
        find(
          item,
          lists.map(({ prefixItems, items = true }) =>
            (Array.isArray(prefixItems) ? prefixItems[i] : undefined) ?? items
          ),
          `${path}[]`,
        ));
    }
    const objects = plain.filter(({ type }) => type === undefined || type === "object");
    if (objects.some((each) => isOpen(each, resolve))) return undefined;
    return first(Object.entries(value), ([name, member]) => {
      const own = path === "" ? name : `${path}.${name}`;
      const named = objects.flatMap(({ properties }) =>
        isJsonSchema(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
      );
      return named.length === 0 ? own : find(member, named, own);
    });
  };
  return find(value, [schema], "");
}

/** Keywords by which a schema describes properties that it does not name. */
const OPEN = ["additionalProperties", "unevaluatedProperties"];

/** Returns the type of what keywords speak of that speak of one type. */
function guessedType(schema: JsonSchema): JsonSchema {
  if ("properties" in schema || "required" in schema) return { type: "object" };
  if ("items" in schema || "prefixItems" in schema) return { type: "array" };
  return TEXT_KEYWORDS.some((keyword) => keyword in schema) ? { type: "string" } : {};
}

/** Keywords that speak of texts; files are described without a type. */
const TEXT_KEYWORDS = ["pattern", "minLength", "format", "contentMediaType"];

function merged(one: JsonSchema, other: JsonSchema): JsonSchema {
  const properties = [one.properties, other.properties].filter(isJsonSchema);
  const required = [one.required, other.required].flat().filter((name) => name !== undefined);
  const isTwoTypes = one.type !== undefined && other.type !== undefined && one.type !== other.type;
  const isWhole = isTwoTypes &&
    [one.type, other.type].every((type) => type === "integer" || type === "number");
  return {
    ...one,
    ...other,
    ...isTwoTypes && { type: isWhole ? "integer" : {} }, // no value has two types
    ...required.length > 0 && { required: [...new Set(required)] },
    ...properties.length > 0 && { properties: properties.reduce(bothOf) },
  };
}

/** Returns the properties of two schemas: what both name has to satisfy both. */
function bothOf(one: JsonSchema, other: JsonSchema): JsonSchema {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => {
    const [left, right] = [one[name], other[name]];
    return [
      name,
      left === undefined || right === undefined ? left ?? right : {
        allOf: [left, right],
      },
    ];
  }));
}

function isOpen(schema: JsonSchema, resolve: Resolve): boolean {
  const { properties, patternProperties } = schema;
  if (!isJsonSchema(properties) || Object.keys(properties).length === 0) return true;
  return patternProperties !== undefined ||
    OPEN.some((keyword) =>
      schema[keyword] !== undefined && asBoolean(schema[keyword], resolve) !== false
    );
}

function first<T>(
  items: readonly T[],
  find: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
