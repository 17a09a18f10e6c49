/**
 * Values of one type.
 *
 * @module
 */
import type { JsonSchema } from "../../../../openapi/json_schema/json_schema.ts";
import { KEYWORDS_OF_TYPES, type Schema } from "./keywords.ts";
import { violates } from "./satisfies.ts";

/** A type of JSON; integers are numbers. */
export type JsonType = (typeof TYPES)[number];

/** The types of JSON, as JSON Schema names them. */
export const TYPES = ["null", "boolean", "number", "string", "array", "object"] as const;

/** Values of one type that satisfy keywords. */
export interface Shape {
  readonly type: JsonType;
  /** The keywords about the type; `type` is missing, except for `integer`. */
  readonly keywords: JsonSchema;
  /** The only values; `undefined` if they are not listed. */
  readonly values: readonly unknown[] | undefined;
  /** Schemas that do not apply. */
  readonly nots: readonly Schema[];
  /** Keywords that are not understood, as texts. */
  readonly others: readonly string[];
}

/** Returns the type of a value. */
export function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value as JsonType;
}

/** Returns the shapes of merged keywords. */
export function shapesOfTypes(keywords: JsonSchema): readonly Shape[] {
  const { enum: listed = undefined, type: types = undefined, ...rest } = keywords;
  return TYPES.filter((type) => isAllowed(type, types)).flatMap((type) => {
    const isInteger = type === "number" && Array.isArray(types) && !types.includes("number");
    const own = { ...ownKeywords(rest, type), ...isInteger && { type: "integer" } };
    const values = valuesOf(listed ?? LISTED[type], { type, keywords: own });
    if (values?.length === 0) return [];
    return [{ type, keywords: values ? {} : own, values, nots: [], others: [] }];
  });
}

/** All values of types that have few. */
const LISTED: Readonly<Partial<Record<JsonType, readonly unknown[]>>> = {
  null: [null],
  boolean: [false, true],
};

function valuesOf(
  listed: unknown,
  { type, keywords }: Pick<Shape, "type" | "keywords">,
): readonly unknown[] | undefined {
  if (!Array.isArray(listed)) return undefined;
  return listed.filter((value) => typeOf(value) === type && !violates(keywords, value));
}

function isAllowed(type: JsonType, types: unknown): boolean {
  if (!Array.isArray(types)) return true;
  return types.includes(type) || type === "number" && types.includes("integer");
}

const NUMBER_FORMATS = new Set(["int32", "int64", "float", "double"]);

function ownKeywords(keywords: JsonSchema, type: JsonType): JsonSchema {
  const own = Object.entries(keywords).filter(([keyword]) =>
    KEYWORDS_OF_TYPES[type]?.includes(keyword)
  );
  const { format, ...rest } = Object.fromEntries(own);
  const isOfType = (name: string) => NUMBER_FORMATS.has(name) === (type === "number");
  const formats = Array.isArray(format) ? format.filter(isOfType) : [];
  return { ...rest, ...formats.length > 0 && { format: formats } };
}
