/**
 * The interface of a schema library, beyond Standard Schema.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";

/**
 * One schema library. The methods that take a schema require one that the library {@linkcode owns};
 * those that take an issue accept any, as a schema can delegate to another library.
 */
export interface SchemaLibrary<S extends StandardSchemaV1 = StandardSchemaV1> {
  /** Checks whether a schema was made by this library. */
  owns(schema: StandardSchemaV1): schema is S;
  /** Checks whether a schema describes objects but accepts an array in place of one. */
  acceptsArrayAsObject(schema: S): boolean;
  /** Returns the schema in a form that drops undeclared keys; `undefined` without one. */
  stripping(schema: S): StandardSchemaV1 | undefined;
  /** Returns the properties that a schema names in its input; `undefined` if they are unknown. */
  propertiesOf(schema: S): SchemaProperties | undefined;
  /** Checks whether a schema computes its output from the whole input. */
  transforms(schema: S): boolean;
  /** Checks whether an issue expected a list, alone or as one of several types. */
  expectsList(issue: LibraryIssue): boolean;
  /** The end of a message that quotes the refused value. */
  readonly quotation?: RegExp;
  /** Returns a message for an issue whose own message can quote the refused value anywhere. */
  messageOf?(issue: LibraryIssue): string | undefined;
}

/** An issue, with the members that libraries add. */
export interface LibraryIssue extends StandardSchemaV1.Issue {
  /** The expected type or constraint, in the words of the library. */
  readonly expected?: unknown;
  /** The issues of the branches of a union (valibot). */
  readonly issues?: unknown;
  /** The issues of each branch of a union (zod). */
  readonly errors?: unknown;
  /** The problem, with the value (arktype). */
  readonly problem?: unknown;
}

/** The schemas of the properties of an object, by key. */
export type SchemaProperties = ReadonlyMap<string, StandardSchemaV1>;

/** Merges the properties of several schemas; returns `undefined` if those of one are unknown. */
export function mergedProperties(
  parts: readonly (SchemaProperties | undefined)[],
): SchemaProperties | undefined {
  const merged = new Map<string, StandardSchemaV1>();
  for (const part of parts) {
    if (!part) return undefined;
    for (const [key, schema] of part) if (!merged.has(key)) merged.set(key, schema);
  }
  return merged;
}
