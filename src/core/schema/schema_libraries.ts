/**
 * Uses of schemas beyond Standard Schema, for the libraries in `libraries`. Schemas of other
 * libraries are only validated.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { ARKTYPE } from "./libraries/arktype.ts";
import type { LibraryIssue, SchemaLibrary, SchemaProperties } from "./libraries/schema_library.ts";
import { VALIBOT } from "./libraries/valibot.ts";
import { ZOD } from "./libraries/zod.ts";

const LIBRARIES: readonly SchemaLibrary[] = [VALIBOT, ZOD, ARKTYPE];

/**
 * Returns a schema that drops what it does not declare.
 *
 * @throws {TypeError} if there is no such schema, as for recursive types and morphs of arktype
 */
export function stripping(schema: StandardSchemaV1): StandardSchemaV1 {
  const library = libraryOf(schema);
  const stripped = library ? library.stripping(schema) : schema;
  if (stripped) return stripped;
  throw new TypeError(
    `Cannot strip to the schema: it keeps undeclared keys; declare "+": "delete"`,
  );
}

/** Checks whether a schema describes objects but accepts an array in place of one. */
export function acceptsArrayAsObject(schema: StandardSchemaV1): boolean {
  return libraryOf(schema)?.acceptsArrayAsObject(schema) ?? false;
}

/**
 * Returns the keys, required or optional, that a schema of objects names in its input.
 * Returns `undefined` if they are unknown: for other libraries, records, lazy schemas and
 * schemas of other types.
 */
export function inputKeysOf(schema: StandardSchemaV1): readonly string[] | undefined {
  const properties = inputPropertiesOf(schema);
  return properties && [...properties.keys()];
}

/** Returns the properties of which {@linkcode inputKeysOf} returns the keys. */
export function inputPropertiesOf(schema: StandardSchemaV1): SchemaProperties | undefined {
  return libraryOf(schema)?.propertiesOf(schema);
}

/**
 * Checks whether a schema computes its output from the whole input, as far as its library is known.
 */
export function transforms(schema: StandardSchemaV1): boolean {
  return libraryOf(schema)?.transforms(schema) ?? false;
}

/** Checks whether an issue expected a list, alone or as one of several types. */
export function expectsList(issue: LibraryIssue): boolean {
  return LIBRARIES.some((library) => library.expectsList(issue));
}

/**
 * Returns the message of an issue, composed anew where the library can quote the value
 * anywhere in it.
 */
export function messageOf(issue: LibraryIssue): string {
  for (const library of LIBRARIES) {
    const message = library.messageOf?.(issue);
    if (message !== undefined) return message;
  }
  return issue.message;
}

/** Removes the quotation of a value from the end of a message. */
export function withoutQuotation(message: string): string {
  return LIBRARIES.reduce(
    (cut, { quotation }) => quotation ? cut.replace(quotation, "") : cut,
    message,
  );
}

function libraryOf(schema: StandardSchemaV1): SchemaLibrary | undefined {
  return LIBRARIES.find((library) => library.owns(schema));
}
