/**
 * The properties of JSON bodies, by their paths.
 *
 * @module
 */
import { isJsonSchema } from "../../../openapi/json_schema/json_schema.ts";
import { alternativesOf, type Resolve } from "./plain_schema.ts";

/** The names of the properties on the way to one, and indexes of arrays. */
export type PropertyPath = readonly (string | number)[];

/** A property that a schema names. */
export interface DescribedProperty {
  readonly path: PropertyPath;
  /** Whether its value is a list. */
  readonly isList: boolean;
}

/** How many objects are around a property. */
const MAX_DEPTH = 4;

/** Returns the properties that a schema names, of objects in objects and lists too. */
export function propertiesOf(schema: unknown, resolve: Resolve): readonly DescribedProperty[] {
  const found = new Map<string, DescribedProperty>();
  const visit = (schema: unknown, path: PropertyPath) => {
    if (path.length > MAX_DEPTH) return;
    for (const { properties, items } of alternativesOf(schema, resolve)) {
      if (isJsonSchema(items)) visit(items, [...path, 0]);
      if (!isJsonSchema(properties)) continue;
      for (const [name, property] of Object.entries(properties)) {
        const own = [...path, name];
        const isList = alternativesOf(property, resolve).some(({ type, items }) =>
          type === "array" && !alternativesOf(items, resolve).some((each) => each.type === "object")
        );
        if (!found.has(own.join("."))) found.set(own.join("."), { path: own, isList });
        visit(property, own);
      }
    }
  };
  visit(schema, []);
  return [...found.values()];
}

/** Returns a value with another value of a property; objects and lists on the way are created. */
export function withProperty(json: unknown, path: PropertyPath, value: unknown): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return value;
  if (typeof part === "number") {
    const list: readonly unknown[] = Array.isArray(json) ? json : [];
    return list.toSpliced(part, 1, withProperty(list[part], rest, value));
  }
  const object = typeof json === "object" && json !== null && !Array.isArray(json) ? json : {};
  const inner = (object as Readonly<Record<string, unknown>>)[part];
  return { ...object, [part]: withProperty(inner, rest, value) };
}
