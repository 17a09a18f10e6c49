/**
 * Named schemas.
 *
 * @module
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";

const NAME = Symbol("fw.dto");

/**
 * Names a schema of any Standard Schema library: in error messages, and as
 * `components.schemas.<name>` of the OpenAPI document. Returns the same schema; schemas that are
 * derived from it have no name.
 *
 * @example
 * ```ts
 * import { dto } from "@fw/fw";
 * import * as v from "valibot";
 *
 * export const CreateCatDto = dto(
 *   "CreateCatDto",
 *   v.object({ name: v.pipe(v.string(), v.minCodePoints(2)) }),
 * );
 * export type CreateCatDto = v.InferOutput<typeof CreateCatDto>;
 * ```
 *
 * @throws {TypeError} if the name is invalid, or the schema has another name
 */
export function dto<S extends StandardSchemaV1>(name: string, schema: S): S {
  if (!isComponentName(name)) {
    throw new TypeError(
      `Cannot name a schema ${
        JSON.stringify(name)
      }: a name consists of letters, digits, ".", "_" and "-"`,
    );
  }
  const other = dtoName(schema);
  if (other !== undefined && other !== name) {
    throw new TypeError(`Cannot name a schema ${name}: it is named ${other}`);
  }
  return Object.defineProperty(schema, NAME, { value: name });
}

/**
 * Checks whether a name is valid for a component of an OpenAPI document (OpenAPI 3.1.1 §4.8.7.1).
 */
export function isComponentName(name: string): boolean {
  return /^[A-Za-z0-9._-]+$/.test(name);
}

/** Returns the name that {@linkcode dto} gave a schema. */
export function dtoName(schema: StandardSchemaV1): string | undefined {
  return Object.hasOwn(schema, NAME) ? (schema as { [NAME]?: string })[NAME] : undefined;
}
