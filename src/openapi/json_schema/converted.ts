/**
 * Schemas of any library, converted to JSON Schema.
 *
 * @module
 */
import type { AnySchema } from "../../core/schema/validation.ts";
import type { JsonSchema } from "./json_schema.ts";

/** The described side of a schema: its input (for requests), or its output (for responses). */
export type Direction = "input" | "output";

/** A use of a schema. */
export interface SchemaUse {
  /** The schema. */
  readonly schema: AnySchema;
  /** Which side of it is described. */
  readonly direction: Direction;
}

/** A schema as JSON Schema, as its library returns it. */
export interface ConvertedJson {
  /** Its name, by `dto()` or by its library. */
  readonly name: string | undefined;
  /** The JSON Schema; its references are keys of `references`. */
  readonly json: JsonSchema;
  /** The targets of its references and of theirs, by references such as `#` and `#/$defs/User`. */
  readonly references: ReadonlyMap<string, ReferenceTarget>;
}

/** A schema as JSON Schema, with what it refers to. */
export interface Converted extends ConvertedJson {
  /** What it refers to, directly and through parts without a name, in order. */
  readonly targets: readonly ReferenceTarget[];
  /**
   * The types in it and in those parts that JSON Schema cannot represent, as the
   * library names them.
   */
  readonly unknown: readonly string[];
}

/** The target of a reference: a schema with a name, or a part of the schema. */
export type ReferenceTarget =
  | { readonly name: string; readonly schema: AnySchema }
  | { readonly name?: undefined; readonly json: JsonSchema };

/** The conversion of a library that implements Standard JSON Schema. */
export interface StandardConversion {
  /** Returns the options for the library; those for zod add the schemas with names to `named`. */
  options(direction: Direction, named: Map<string, AnySchema>): Readonly<Record<string, unknown>>;
  /** Corrects the result of the library. */
  corrected?(json: JsonSchema, use: SchemaUse): JsonSchema;
}

/**
 * Converts a schema. Returns `undefined` if its library offers no JSON Schema, or
 * cannot convert it.
 */
export type Convert = (schema: AnySchema, direction: Direction) => Converted | undefined;
