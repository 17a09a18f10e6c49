/**
 * What becomes of the schema of any library: JSON Schema.
 *
 * @module
 */
import type { AnySchema } from "../../core/schema/validation.ts";
import type { JsonSchema } from "./json_schema.ts";

/** What is described: what a schema takes (of requests), or what it gives (of responses). */
export type Direction = "input" | "output";

/** A schema as it is used. */
export interface SchemaUse {
  /** The schema. */
  readonly schema: AnySchema;
  /** What of it is described. */
  readonly direction: Direction;
}

/** A schema as JSON Schema, as its library gives it. */
export interface ConvertedJson {
  /** Its name, by `dto()` or by its library. */
  readonly name: string | undefined;
  /** The JSON Schema; its references are keys of `references`. */
  readonly json: JsonSchema;
  /** What its references and those of their targets, such as `#` and `#/$defs/User`, stand for. */
  readonly references: ReadonlyMap<string, ReferenceTarget>;
}

/** A schema as JSON Schema, read through. */
export interface Converted extends ConvertedJson {
  /** What it refers to, itself and by way of its parts without a name, in order. */
  readonly targets: readonly ReferenceTarget[];
  /** What of it, and of those parts, JSON Schema has no words for, as its library calls it. */
  readonly unknown: readonly string[];
}

/** What a reference stands for: a schema with a name, or a part of the schema. */
export type ReferenceTarget =
  | { readonly name: string; readonly schema: AnySchema }
  | { readonly name?: undefined; readonly json: JsonSchema };

/** What the conversion of a library that implements Standard JSON Schema needs. */
export interface StandardConversion {
  /** Returns the options of the library; those of zod add the schemas with names to `named`. */
  options(direction: Direction, named: Map<string, AnySchema>): Readonly<Record<string, unknown>>;
  /** Corrects what the library returned. */
  corrected?(json: JsonSchema, use: SchemaUse): JsonSchema;
}

/** Converts a schema. Gives `undefined` if its library offers no JSON Schema, or cannot convert it. */
export type Convert = (schema: AnySchema, direction: Direction) => Converted | undefined;
